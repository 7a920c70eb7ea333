package locate

import (
	"time"

	"shardboard/internal/message"
	"shardboard/web/templates"
)

// shardsNamed says in words that a headline names every shard of a large cluster, "" where it names some; and which
// one it names first.
func shardsNamed(m message.Message, refs templates.Refs) (all, first string) {
	n := 0
	for _, part := range m.Parts(time.Time{}) {
		if part.Fact.Kind != message.KindShard {
			continue
		}
		if n++; n == 1 {
			first = part.Fact.Value
		}
	}
	return templates.AllShards(n, refs), first
}
