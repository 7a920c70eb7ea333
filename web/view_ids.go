package web

import (
	"strings"
	"time"

	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/placement/ids"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// anatomies puts ids taken apart into words.
func anatomies(list []ids.Anatomy, now time.Time) []templates.Anatomy {
	var out []templates.Anatomy
	for _, a := range list {
		m := templates.Anatomy{
			Kind: words.Code("id.kind", string(a.Kind), nil), ID: a.Text,
			Ranged: words.Code("id.ranged", a.Ranged, nil), Hashed: words.Code("id.hashed", a.Hashed, nil),
		}
		if !a.Time.IsZero() {
			m.Made, m.At = a.Time.Format("2006-01-02 15:04:05")+" UTC", templates.Ago(a.Time, now)
		}
		digits := strings.ReplaceAll(a.Text, "-", "")
		for _, p := range a.Parts {
			m.Parts = append(m.Parts, templates.AnatomyPart{Digits: digits[p.From:p.To], Name: words.Code("id.part", p.Name, nil), Value: p.Value})
		}
		for _, n := range a.Notes {
			m.Notes = append(m.Notes, words.Code("id.note", n.Code, n.Args))
		}
		out = append(out, m)
	}
	return out
}

// readAs says how a question was understood and what it cost the cluster.
func readAs(a placement.Answer) string {
	var forms []string
	for _, r := range a.Input.Readings {
		form := words.Code("form", string(r.Form), nil)
		if len(forms) == 0 || forms[len(forms)-1] != form {
			forms = append(forms, form)
		}
	}
	if len(forms) == 0 {
		return ""
	}
	cost := words.T("locate.cost.none")
	if c := a.Cost; c.Targeted+c.Broadcast > 0 {
		cost = words.T("locate.cost", "targeted", words.Plural("locate.targeted", int64(c.Targeted), "n", format.Count(int64(c.Targeted))),
			"broadcast", words.Plural("locate.broadcast", int64(c.Broadcast), "n", format.Count(int64(c.Broadcast))))
	}
	return words.T("locate.read", "form", strings.Join(forms, words.T("locate.or")), "cost", cost)
}
