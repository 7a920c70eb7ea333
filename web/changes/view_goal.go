package changes

import (
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/web/templates"
)

// adaptations are the times that the rest was planned again, the newest first.
// Those that only read again what the same commands need are no news.
func adaptations(r engine.Run) (out []Adaptation) {
	for i := len(r.Adaptations) - 1; i >= 0; i-- {
		a := r.Adaptations[i]
		if a.Same {
			continue
		}
		m := Adaptation{Text: a.Text().String()}
		for _, d := range a.Because {
			if d.Field == "goal" {
				continue
			}
			if len(m.Because) == answer.BecauseListed {
				m.More = format.Count(int64(len(a.Because)-answer.BecauseListed)) + " more differences"
				break
			}
			m.Because = append(m.Because, d.Text().String())
		}
		out = append(out, m)
	}
	return out
}

func limitsText(l actions.Limits) (out []templates.Fact) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, templates.Fact{Name: name, Figure: templates.Figure{Text: value, Known: true}})
		}
	}
	var nss []string
	for _, ns := range l.Collections {
		nss = append(nss, string(ns))
	}
	add("Collections", strings.Join(nss, ", "))
	add("Zones", strings.Join(l.Zones, ", "))
	add("Shards that may receive chunks", strings.Join(l.Shards, ", "))
	if l.Chunks > 0 {
		add("Most moves", format.Count(int64(l.Chunks)))
		bytes := "not known; no limit"
		if l.Bytes.Known {
			bytes = format.Bytes(l.Bytes.Value)
		}
		add("Most data left to move", bytes)
	}
	return out
}
