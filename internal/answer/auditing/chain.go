package auditing

import (
	"cmp"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/store/audit"
)

// AuditState is how far the chain of records was verified, and what is wrong with it.
func AuditState(st audit.State) api.AuditState {
	var out api.AuditState
	if st.Head != nil {
		h := AuditHead(*st.Head)
		out.Head = &h
	}
	if !st.At.IsZero() {
		out.Verified = &api.AuditVerified{Seq: st.End.Seq, At: st.At.UTC().Truncate(time.Millisecond), Whole: api.Time(st.Whole)}
	}
	if t := st.Trouble(); t != nil {
		out.Problem = &api.AuditProblem{Code: t.Code, Text: t.Text}
		if t.Seq != 0 {
			out.Problem.Seq = &t.Seq
		}
	}
	if st.Key != "" {
		out.Key = &st.Key
	}
	if st.Other != "" {
		out.OtherKey = &st.Other
	}
	return out
}

// auditChain is the state of the chain in sentences.
func auditChain(st audit.State) api.Audit {
	out := api.Audit{Head: AuditState(st).Head}
	out.Level, out.Verdict = auditVerdict(st)
	if st.Other != "" {
		out.Notes = append(out.Notes, api.State{Code: "failed", Title: "The newest head was signed by another key.",
			Detail: "Fingerprint " + st.Other + ". If none of you changed the key, somebody else signed this record."})
	}
	if st.Key == "" {
		out.Notes = append(out.Notes, api.State{Code: "stale", Title: "Nothing is signed here.",
			Detail: "This process only reads the record; the one that owns the data signs it."})
	}
	return out
}

// auditVerdict says how far the chain was verified, and never more than was done.
func auditVerdict(st audit.State) (level string, m message.Message) {
	end, at := message.Count("seq", st.End.Seq), message.Since("at", st.At)
	trouble := st.Trouble()
	switch {
	case st.Break != nil:
		return "bad", auditBreak(*st.Break)
	case trouble != nil && st.At.IsZero():
		return "bad", message.New("audit.trouble", "{trouble}", message.Words("trouble", trouble.Text))
	case trouble != nil:
		return "bad", message.New("audit.troubleSince",
			"{trouble} The last complete check was {at} ago; the chain was in order up to record {seq} then.",
			message.Words("trouble", trouble.Text), at, end)
	case st.At.IsZero() && st.Err != nil:
		return "note", message.New("audit.neverVerified", "The chain could not be verified since the start; the log has the cause.")
	case st.At.IsZero():
		return "note", message.New("audit.notYetVerified",
			"The chain has not been verified yet since the start, so nothing is known about it.")
	case st.Err != nil:
		return "note", message.New("audit.interrupted", "The chain was in order up to record {seq} when it was checked {at} ago. "+
			"Since then it could not be read to its end or signed; the log has the cause.", at, end)
	case st.End.Seq == 0:
		return "ok", message.New("audit.empty", "The record was empty when it was verified {at} ago.", at)
	}
	return "ok", message.New("audit.inOrder",
		"The chain is in order up to record {seq}, verified {at} ago. The last check of the whole chain was {whole} ago.",
		end, at, message.Since("whole", st.Whole))
}

// auditBreak says what is wrong and how that is known.
func auditBreak(b audit.Break) message.Message {
	code := b.Code
	switch {
	case (code == audit.Cut || code == audit.Rebuilt) && b.At.IsZero():
		code += ".seen" // not by a signed head: the record was seen there before
	case b.Witness:
		code += ".witness"
	}
	return message.New("audit.break."+b.Code, cmp.Or(auditBreaks[code], auditBreaks[b.Code], auditBreaks["other"]),
		message.Count("seq", b.Seq), message.Count("found", b.Found), message.Time("at", b.At), message.Text("key", b.Key),
		message.Text("code", b.Code))
}
