package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// eventRow puts an entry into words. The server's own texts are shown as they
// are, as text.
func EventRow(v answer.View, r Refs, x answer.Event) templates.EventRow {
	row := templates.EventRow{Key: x.ID, When: templates.Ago(x.Time, v.Now), What: x.What, NS: x.NS, Failed: x.Failed}
	code := x.What
	if (code == "moveChunk.from" || code == "moveChunk.to") && x.Failed {
		code += ".aborted"
	} else if code == "moveChunk.from" && x.From == x.To && x.From != "" {
		code += ".same"
	}
	row.Text = words.Code("event", code, map[string]string{"n": format.Count(x.Count)})
	if v.Table.Collection(topology.Namespace(x.NS)) != nil {
		row.URL = answer.CollectionURL(topology.Namespace(x.NS))
	}
	for _, s := range []struct {
		name string
		into **templates.ShardRef
	}{{x.From, &row.From}, {x.To, &row.To}} {
		if s.name != "" {
			ref := r.Of(s.name)
			*s.into = &ref
		}
	}
	if x.Min != nil && x.Max != nil {
		row.Min, row.Max = BoundOf(v.Table, x.NS, x.Min), BoundOf(v.Table, x.NS, x.Max)
		row.Chunk = answer.ChunkOfBound(v.Table, topology.Namespace(x.NS), x.Min)
	}
	if x.Failed {
		row.Why, row.Server = answer.FailureMeans(x.Why.Code), ReasonText(x.Why)
	}
	return row
}
