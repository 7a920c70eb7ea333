package audit

import (
	"encoding/hex"
	"maps"
	"slices"
	"strconv"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// auditView is a part of the record, newest first.
func auditView(q answer.AuditQuery, found audit.Found, names map[string]string, st audit.State, now time.Time) Audit {
	m := Audit{By: q.By, What: q.What, Subject: q.Subject, From: q.From, To: q.To,
		Filtered: q.Filter != audit.Filter{}, Newer: q.Below > 0}
	kinds := answer.AuditKinds[:]
	if !slices.Contains(kinds, q.What) {
		kinds = append(slices.Clone(kinds), q.What)
	}
	for _, k := range kinds {
		m.Kinds = append(m.Kinds, templates.Option{Value: k, Text: answer.AuditKind(k), Selected: k == q.What})
	}
	m.Level, m.Verdict = answer.AuditVerdict(st, now)
	m.Notes = auditNotes(st)
	if st.Head != nil {
		m.Head = headFacts(*st.Head, now)
	}
	for _, r := range found.Records {
		m.Rows = append(m.Rows, auditRow(r, names, now))
	}
	if found.More {
		m.Older = q.Url(found.Next)
		if len(found.Records) < answer.PageRows {
			m.Bounded = "Looked through the records down to number " + format.Count(found.Next) + "; older ones follow with “Older”."
		}
	}
	if len(m.Rows) == 0 {
		m.State = api.State{
			Code:   "empty",
			Title:  "Nothing is recorded yet",
			Detail: "Sign-ins, refusals, changes of users and tokens, plans and runs appear here.",
		}
		if m.Filtered || m.Newer {
			m.State.Title, m.State.Detail = "No record matches the filter", m.Bounded
		}
		m.Bounded = ""
	}
	return m
}

func auditNotes(st audit.State) []api.State {
	var out []api.State
	if st.Other != "" {
		out = append(
			out,
			api.State{
				Code:   "failed",
				Title:  "The newest head was signed by another key.",
				Detail: "Fingerprint " + st.Other + ". If none of you changed the key, somebody else signed this record.",
			},
		)
	}
	if st.Key == "" {
		out = append(
			out,
			api.State{
				Code:   "stale",
				Title:  "Nothing is signed here.",
				Detail: "This process only reads the record; the one that owns the data signs it.",
			},
		)
	}
	return out
}

func headFacts(h store.AuditHead, now time.Time) []templates.Fact {
	mono := func(name, text string) templates.Fact {
		return templates.Fact{Name: name, Mono: true, Figure: templates.Figure{Text: text, Known: true}}
	}
	return []templates.Fact{
		mono("Record", strconv.FormatInt(h.Seq, 10)),
		mono("Hash", hex.EncodeToString(h.Hash)),
		{Name: "Signed", Figure: templates.Figure{Text: format.Ago(now.Sub(h.At)), Known: true, Title: format.Stamp(h.At)}},
		mono("Key", audit.Fingerprint(h.Key)),
	}
}

// auditRow shows accounts and tokens by the names they have now; the record
// keeps ids, which never change hands.
func auditRow(r store.AuditRecord, names map[string]string, now time.Time) AuditRow {
	row := AuditRow{
		Seq: strconv.FormatInt(r.Seq, 10), When: templates.Ago(r.At, now), Stamp: format.Stamp(r.At),
		Who: sanitize.Truncate(r.By, 80), WhoID: r.By, Text: answer.AuditWhat(r.What), Code: r.What,
		Subject: templates.Cut(r.Subject, 40), From: sanitize.Truncate(r.From, 60), Hash: templates.Cut(hex.EncodeToString(r.Hash), 12),
	}
	if r.By == "" {
		row.Who = "nobody known"
	} else {
		row.WhoURL = answer.AuditQuery{By: r.By}.Url(0)
		if name := names[r.By]; name != "" {
			row.Who, row.IssuersID = sanitize.Truncate(sanitize.Sentence(name), 80), site.IssuersID(r.By, name)
		}
	}
	if r.Subject != r.By {
		row.SubjectName = sanitize.Truncate(sanitize.Sentence(names[r.Subject]), 80)
	}
	if r.Via != "" {
		row.Via = answer.AuditVia(r.Via)
	}
	if r.Outcome != "ok" {
		row.Outcome, row.Bad = answer.AuditOutcome(r.Outcome), true
	}
	for _, name := range slices.Sorted(maps.Keys(r.Details)) {
		text := r.Details[name]
		if name == "examples" {
			text = answer.NamedExamples(text, names)
		}
		whole := sanitize.Shorten(text, answer.ServerTextWhole)
		d := AuditDetail{Name: sanitize.Truncate(name, 40), Text: sanitize.Shorten(whole, answer.TextShown)}
		if d.Text != whole {
			d.Whole = whole
		}
		row.Details = append(row.Details, d)
	}
	return row
}
