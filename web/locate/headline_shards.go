package locate

import (
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/web/templates"
)

// wordsAndShards are the parts of a headline, its words between two shards as one.
func wordsAndShards(m message.Message) (out []message.Part) {
	for _, part := range m.Parts(time.Time{}) {
		last := len(out) - 1
		if part.Fact.Kind == message.KindShard || last < 0 || out[last].Fact.Kind == message.KindShard {
			out = append(out, part)
		} else {
			out[last].Text += part.Text
		}
	}
	return out
}

// refsOf are the shards as a page names them.
func refsOf(v answer.View) templates.Refs { return templates.RefsOf(v.Table) }

// uncounted tells whether a thing has places whose rows nobody has counted.
func uncounted(it api.LocateItem) bool {
	return slices.ContainsFunc(it.Places, func(p api.Place) bool { return p.State != "absent" && p.Rows == nil })
}
