package answer

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
)

// AuditTrail is the audit record and what its keeper knows of it.
type AuditTrail interface {
	audit.Reader
	Append(ctx context.Context, e store.AuditEntry) (store.AuditRecord, error)
	AuditHeads(ctx context.Context, skip, limit int) ([]store.AuditHead, error)
	State() audit.State
	// AuditNames are the names of accounts, tokens and people who came by OIDC, by
	// principal id.
	AuditNames(ctx context.Context) (map[string]string, error)
}

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

// AuditRecord is a record on the wire; everything that its hash covers is
// there, so that whoever reads it can verify the chain.
func AuditRecord(r store.AuditRecord) api.AuditRecord {
	return api.AuditRecord{Seq: r.Seq, At: r.At.UTC(), By: r.By, Via: r.Via, From: r.From, What: r.What, Subject: r.Subject,
		Outcome: r.Outcome, Cluster: r.Cluster, Details: r.Details, Prev: hex.EncodeToString(r.Prev), Hash: hex.EncodeToString(r.Hash)}
}

// AuditHead is a signed head on the wire.
func AuditHead(h store.AuditHead) api.AuditHead {
	return api.AuditHead{Seq: h.Seq, Hash: hex.EncodeToString(h.Hash), At: h.At.UTC(), Fingerprint: audit.Fingerprint(h.Key),
		Key: base64.StdEncoding.EncodeToString(h.Key), Signature: base64.StdEncoding.EncodeToString(h.Signature)}
}

// cursorNumber is a cursor that holds a place; 0 when there is none.
func CursorNumber(q url.Values) (int64, error) {
	key, given, err := CursorKey(q)
	if err != nil || !given {
		return 0, err
	}
	n, err := strconv.ParseInt(key, 10, 64)
	if err != nil || n < 1 || n > 1<<53 {
		return 0, fault.New(fault.Invalid, "This cursor is not from this list: %q.", sanitize.Truncate(q.Get("cursor"), 80))
	}
	return n, nil
}

func AuditFilterOf(q url.Values) (f audit.Filter, err error) {
	f = audit.Filter{By: q.Get("by"), What: q.Get("what"), Subject: q.Get("subject")}
	if f.From, err = pointInTime(q, "from"); err != nil {
		return f, err
	}
	f.To, err = pointInTime(q, "to")
	return f, err
}

// pointInTime reads a time as scripts write it, or as a date field sends it.
func pointInTime(q url.Values, name string) (time.Time, error) {
	text := q.Get(name)
	if text == "" {
		return time.Time{}, nil
	}
	for _, form := range []string{time.RFC3339, "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly} {
		if t, err := time.Parse(form, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, fault.New(
		fault.Invalid,
		"%s is a time like 2026-03-01T12:00:00Z or a date like 2026-03-01; %q is neither.",
		name,
		sanitize.Truncate(text, 40),
	)
}

// auditQuery filters the record. The zero value is its newest part.
type AuditQuery struct {
	By, What, Subject, From, To string
	Filter                      audit.Filter
	Below                       int64 // 0: from the end
}

// auditKinds are the choices of the filter: prefixes and codes.
var AuditKinds = [...]string{
	"",
	"login.",
	"session.",
	"user.",
	"token.",
	"survey.",
	"advice.",
	"alert.",
	"plan.",
	"run.",
	"access.",
	"data.",
	"audit.",
}

func AuditQueryOf(in url.Values) (q AuditQuery, err error) {
	for name, to := range map[string]*string{"by": &q.By, "what": &q.What, "subject": &q.Subject, "from": &q.From, "to": &q.To} {
		if *to, err = text(in, name); err != nil {
			return q, err
		}
	}
	if q.Filter, err = AuditFilterOf(in); err != nil {
		return q, err
	}
	if below := in.Get("below"); below != "" {
		q.Below, err = strconv.ParseInt(below, 10, 64)
		if err != nil || q.Below < 1 {
			return q, fault.New(fault.Invalid, "below is the number of a record; %q is not.", sanitize.Truncate(below, 40))
		}
	}
	return q, nil
}

func (q AuditQuery) Url(below int64) string {
	u := url.Values{}
	set(u, "by", q.By)
	set(u, "what", q.What)
	set(u, "subject", q.Subject)
	set(u, "from", q.From)
	set(u, "to", q.To)
	if below > 0 {
		u.Set("below", strconv.FormatInt(below, 10))
	}
	return address("/audit", u, 1)
}

// auditVerdict says how far the chain was verified, and never more than was
// done.
func AuditVerdict(st audit.State, now time.Time) (level, text string) {
	switch {
	case st.Break != nil:
		return "bad", auditBreak(*st.Break)
	case st.Trouble() != nil:
		return "bad", auditTrouble(st, now)
	case st.At.IsZero() && st.Err != nil:
		return "note", "The chain could not be verified since the start; the log has the cause."
	case st.At.IsZero():
		return "note", "The chain has not been verified yet since the start, so nothing is known about it."
	case st.Err != nil:
		return "note", fmt.Sprintf(
			"The chain was in order up to record %s %s. It could not be read to its end or signed since; the log has the cause.",
			format.Count(st.End.Seq),
			format.Ago(now.Sub(st.At)),
		)
	case st.End.Seq == 0:
		return "ok", "The record was empty when it was verified " + format.Ago(now.Sub(st.At)) + "."
	}
	return "ok", fmt.Sprintf(
		"The chain is in order up to record %s, verified %s; read from its first record %s.",
		format.Count(st.End.Seq),
		format.Ago(now.Sub(st.At)),
		format.Ago(now.Sub(st.Whole)),
	)
}

// auditBreak says what is wrong and how that is known.
func auditBreak(b audit.Break) string {
	code := b.Code
	switch {
	case (code == audit.Cut || code == audit.Rebuilt) && b.At.IsZero():
		code += ".seen" // not by a signed head: the record was seen there before
	case b.Witness:
		code += ".witness"
	}
	text := cmp.Or(auditBreaks[code], auditBreaks[b.Code], auditBreaks["other"])
	return strings.NewReplacer("{seq}", format.Count(b.Seq), "{found}", format.Count(b.Found), "{at}", format.Stamp(b.At), "{key}", b.Key,
		"{code}", b.Code).Replace(text)
}

// auditTrouble says why the record cannot be checked, and up to where it was in
// order before.
func auditTrouble(st audit.State, now time.Time) string {
	text := st.Trouble().Text
	if st.At.IsZero() {
		return text
	}
	return text + " " + fmt.Sprintf(
		"The last check that could be finished was %s; the chain was in order up to record %s then.",
		format.Ago(now.Sub(st.At)),
		format.Count(st.End.Seq),
	)
}

// auditBanner is for every page; nil while nothing is known to be wrong.
func AuditBanner(st audit.State) []string {
	t := st.Trouble()
	if t == nil {
		return nil
	}
	if st.Break != nil {
		return []string{"The audit record was changed by something other than this program; the page Audit says where."}
	}
	return []string{auditBanners[t.Code]}
}

// namedExamples shows the accounts that strangers tried by their names: the
// counter writes an address and an id, or one of them.
func NamedExamples(text string, names map[string]string) string {
	examples := strings.Split(text, ", ")
	for i, example := range examples {
		parts := strings.Split(example, " ")
		if last := len(parts) - 1; names[parts[last]] != "" {
			parts[last] = names[parts[last]]
			examples[i] = strings.Join(parts, " ")
		}
	}
	return strings.Join(examples, ", ")
}
