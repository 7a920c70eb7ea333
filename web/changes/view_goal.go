package changes

import (
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/format"
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
