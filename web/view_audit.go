package web

import (
	"encoding/hex"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// auditQuery filters the record. The zero value is its newest part.
type auditQuery struct {
	By, What, Subject, From, To string
	Filter                      audit.Filter
	Below                       int64 // 0: from the end
}

// auditKinds are the choices of the filter: prefixes and codes.
var auditKinds = [...]string{"", "login.", "session.", "user.", "token.", "survey.", "advice.", "alert.", "plan.", "run.", "access.", "data.", "audit."}

func auditQueryOf(in url.Values) (q auditQuery, err error) {
	for name, to := range map[string]*string{"by": &q.By, "what": &q.What, "subject": &q.Subject, "from": &q.From, "to": &q.To} {
		if *to, err = text(in, name); err != nil {
			return q, err
		}
	}
	if q.Filter, err = auditFilterOf(in); err != nil {
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

func (q auditQuery) url(below int64) string {
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

// auditView is a part of the record, newest first.
func auditView(q auditQuery, found audit.Found, names map[string]string, st audit.State, now time.Time) templates.Audit {
	m := templates.Audit{By: q.By, What: q.What, Subject: q.Subject, From: q.From, To: q.To,
		Filtered: q.Filter != audit.Filter{}, Newer: q.Below > 0}
	kinds := auditKinds[:]
	if !slices.Contains(kinds, q.What) {
		kinds = append(slices.Clone(kinds), q.What)
	}
	for _, k := range kinds {
		m.Kinds = append(m.Kinds, templates.Option{Value: k, Text: auditKind(k), Selected: k == q.What})
	}
	m.Level, m.Verdict = auditVerdict(st, now)
	m.Notes = auditNotes(st)
	if st.Head != nil {
		m.Head = headFacts(*st.Head, now)
	}
	for _, r := range found.Records {
		m.Rows = append(m.Rows, auditRow(r, names, now))
	}
	if found.More {
		m.Older = q.url(found.Next)
		if len(found.Records) < pageRows {
			m.Bounded = words.T("audit.bounded", "seq", format.Count(found.Next))
		}
	}
	if len(m.Rows) == 0 {
		m.State = templates.State{Code: "empty", Title: words.T("audit.none"), Detail: words.T("audit.none.detail")}
		if m.Filtered || m.Newer {
			m.State.Title, m.State.Detail = words.T("audit.nomatch"), m.Bounded
		}
		m.Bounded = ""
	}
	return m
}

// auditKind is a choice of the filter: those of the list have words, a code
// that somebody typed into the address stands for itself.
func auditKind(what string) string {
	if what == "" {
		return words.T("filter.any")
	}
	if key := "audit.kind." + what; words.Has(key) {
		return words.T(key)
	}
	return sanitize.Truncate(what, 60)
}

// auditVerdict says how far the chain was verified, and never more than was
// done.
func auditVerdict(st audit.State, now time.Time) (level, text string) {
	switch {
	case st.Break != nil:
		return "bad", auditBreak(*st.Break)
	case st.Trouble() != nil:
		return "bad", auditTrouble(st, now)
	case st.At.IsZero() && st.Err != nil:
		return "note", words.T("audit.unverified.failed")
	case st.At.IsZero():
		return "note", words.T("audit.unverified")
	case st.Err != nil:
		return "note", words.T("audit.verified.before", "seq", format.Count(st.End.Seq), "ago", format.Ago(now.Sub(st.At)))
	case st.End.Seq == 0:
		return "ok", words.T("audit.verified.empty", "ago", format.Ago(now.Sub(st.At)))
	}
	return "ok", words.T("audit.verified", "seq", format.Count(st.End.Seq), "ago", format.Ago(now.Sub(st.At)),
		"whole", format.Ago(now.Sub(st.Whole)))
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
	if !words.Has("audit.break." + code) {
		code = b.Code
	}
	return words.Code("audit.break", code, map[string]string{
		"seq": format.Count(b.Seq), "found": format.Count(b.Found), "at": format.Stamp(b.At), "key": b.Key})
}

// auditTrouble says why the record cannot be checked, and up to where it was in
// order before.
func auditTrouble(st audit.State, now time.Time) string {
	text := st.Trouble().Text
	if st.At.IsZero() {
		return text
	}
	return text + " " + words.T("audit.trouble.before", "seq", format.Count(st.End.Seq), "ago", format.Ago(now.Sub(st.At)))
}

// auditBanner is for every page; nil while nothing is known to be wrong.
func auditBanner(st audit.State) []string {
	t := st.Trouble()
	if t == nil {
		return nil
	}
	if st.Break != nil {
		return []string{words.T("banner.audit")}
	}
	return []string{words.T("banner.audit." + t.Code)}
}

func auditNotes(st audit.State) []templates.State {
	var out []templates.State
	if st.Other != "" {
		out = append(out, templates.State{Code: "failed", Title: words.T("audit.otherKey"), Detail: words.T("audit.otherKey.detail", "key", st.Other)})
	}
	if st.Key == "" {
		out = append(out, templates.State{Code: "stale", Title: words.T("audit.noKey"), Detail: words.T("audit.noKey.detail")})
	}
	return out
}

func headFacts(h store.AuditHead, now time.Time) []templates.Fact {
	mono := func(name, text string) templates.Fact {
		return templates.Fact{Name: name, Mono: true, Figure: templates.Figure{Text: text, Known: true}}
	}
	return []templates.Fact{
		mono(words.T("audit.head.seq"), strconv.FormatInt(h.Seq, 10)),
		mono(words.T("audit.head.hash"), hex.EncodeToString(h.Hash)),
		{Name: words.T("audit.head.at"), Figure: templates.Figure{Text: format.Ago(now.Sub(h.At)), Known: true, Title: format.Stamp(h.At)}},
		mono(words.T("audit.head.key"), audit.Fingerprint(h.Key)),
	}
}

// auditRow shows accounts and tokens by the names they have now; the record
// keeps ids, which never change hands.
func auditRow(r store.AuditRecord, names map[string]string, now time.Time) templates.AuditRow {
	row := templates.AuditRow{
		Seq: strconv.FormatInt(r.Seq, 10), When: templates.Ago(r.At, now), Stamp: format.Stamp(r.At),
		Who: sanitize.Truncate(r.By, 80), WhoID: r.By, Text: words.Code("audit.what", r.What, nil), Code: r.What,
		Subject: templates.Cut(r.Subject, 40), From: sanitize.Truncate(r.From, 60), Hash: templates.Cut(hex.EncodeToString(r.Hash), 12),
	}
	if r.By == "" {
		row.Who = words.T("audit.nobody")
	} else {
		row.WhoURL = auditQuery{By: r.By}.url(0)
		if name := names[r.By]; name != "" {
			row.Who, row.IssuersID = sanitize.Truncate(sanitize.Sentence(name), 80), issuersID(r.By, name)
		}
	}
	if r.Subject != r.By {
		row.SubjectName = sanitize.Truncate(sanitize.Sentence(names[r.Subject]), 80)
	}
	if r.Via != "" {
		row.Via = words.Code("audit.via", r.Via, nil)
	}
	if r.Outcome != "ok" {
		row.Outcome, row.Bad = words.Code("audit.outcome", r.Outcome, nil), true
	}
	for _, name := range slices.Sorted(maps.Keys(r.Details)) {
		text := r.Details[name]
		if name == "examples" {
			text = namedExamples(text, names)
		}
		whole := sanitize.Shorten(text, serverTextWhole)
		d := templates.AuditDetail{Name: sanitize.Truncate(name, 40), Text: sanitize.Shorten(whole, textShown)}
		if d.Text != whole {
			d.Whole = whole
		}
		row.Details = append(row.Details, d)
	}
	return row
}

// namedExamples shows the accounts that strangers tried by their names: the
// counter writes an address and an id, or one of them.
func namedExamples(text string, names map[string]string) string {
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
