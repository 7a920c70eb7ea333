package activity

import (
	"shardboard/internal/api"
	"shardboard/web/templates"
)

// unendedListed bounds the moves without an end in the log that the page lists.
const unendedListed = 8

// evidence explains once what the page says of who asked for changes. Runs are linked instead.
func (m page) evidence() []templates.Fact {
	var out []templates.Fact
	seen := map[string]bool{}
	add := func(c *api.Cause) {
		if c != nil && c.Run == "" && c.Evidence != "" && !seen[c.Basis] {
			seen[c.Basis] = true
			out = append(out, templates.Fact{Name: c.Label, Figure: templates.Figure{Text: c.Evidence, Known: true}})
		}
	}
	if m.moves != nil {
		for _, list := range [][]api.Migration{m.running(), m.moves.Ended} {
			for i := range list {
				add(&list[i].Cause)
			}
		}
	}
	for _, e := range m.list.Items {
		if e.Cause != nil && e.Cause.By != "unknown" {
			add(e.Cause)
		}
	}
	return out
}

// running are the moves that the page lists as having no end in the log, the newest.
func (m page) running() []api.Migration {
	return m.moves.Running[:min(len(m.moves.Running), unendedListed)]
}
