package locate

import (
	"strings"
	"time"

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
