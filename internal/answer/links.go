package answer

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// FactURL is the page of the shard, collection, zone or project that a fact names; "" where
// the view has no such page. What is hidden from the reader has none: key values and
// server texts are no kinds of facts that lead anywhere.
func (v View) FactURL(f message.Fact) string {
	switch f.Kind {
	case message.KindShard:
		if v.Table.Shard(f.Value) != nil {
			return ShardURL(f.Value)
		}
	case message.KindNamespace:
		if c := v.Table.Collection(topology.Namespace(f.Value)); c != nil && Sharded(c) {
			return CollectionURL(c.NS)
		}
	case message.KindZone:
		carried := slices.ContainsFunc(v.Table.Shards, func(s topology.Shard) bool { return slices.Contains(s.Zones, f.Value) })
		if carried || slices.ContainsFunc(v.Table.Zones, func(z topology.ZoneRange) bool { return z.Zone == f.Value }) {
			return "/zones"
		}
	case message.KindProject:
		if id, err := bson.ObjectIDFromHex(f.Value); err == nil {
			if _, ok := v.Dir.ByID(id); ok {
				return "/projects/" + id.Hex()
			}
		}
	}
	return ""
}
