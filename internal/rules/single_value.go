package rules

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// single tells whether a chunk holds one value of the shard key only, so that no
// split divides it, as far as its bounds and the known projects show.
func (ev *evaluation) single(c *topology.Collection, ch topology.Chunk) bool {
	if c.Key.OneValue(shardkey.Range{Min: ch.Min, Max: ch.Max}) {
		return true
	}
	if c.Key.Len() != 1 || c.Key.Fields()[0].Hashed {
		return false
	}
	values, err := c.Key.Values(ch.Min)
	return err == nil && values[0].Type != bson.TypeMinKey && ev.projectsIn(c, ch) == 1
}
