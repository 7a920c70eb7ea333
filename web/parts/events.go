package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/web/templates"
)

// EventRow is a changelog entry for a list.
func EventRow(v answer.View, r Refs, x answer.Event) templates.EventRow {
	return EventRows(v, r, []api.Event{answer.EventOf(v, x)})[0]
}

// EventRows are changelog entries for a list.
func EventRows(v answer.View, r Refs, list []api.Event) []templates.EventRow {
	out := make([]templates.EventRow, 0, len(list))
	for _, e := range list {
		row := templates.EventRow{Event: e, When: templates.Ago(e.Time, v.Now)}
		if e.From != "" {
			ref := r.Of(e.From)
			row.Giver = &ref
		}
		if e.To != "" {
			ref := r.Of(e.To)
			row.Receiver = &ref
		}
		out = append(out, row)
	}
	return out
}
