package catalog

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// notePlacement writes a row of config.placementHistory (7.0) when the set of shards
// that own chunks of a collection is not what it was; a chunk that moves within the
// set writes none.
func (c *Cluster) notePlacement(r *Routing) {
	if !c.format.placements || c.table(r.NS) != r {
		return
	}
	owners := r.ShardsOwning()
	if set := strings.Join(owners, ","); set != r.later.placed {
		r.later.placed = set
		c.placed(r.NS, &r.UUID, owners...)
	}
}

// placed writes the row: of a database without uuid, of something dropped without
// shards.
func (c *Cluster) placed(ns string, uuid *[16]byte, shards ...string) {
	if !c.format.placements {
		return
	}
	list := bson.A{}
	for _, s := range shards {
		list = append(list, c.format.shardRef(s))
	}
	d := bson.D{{Key: "_id", Value: c.objectID(onConfig)}, {Key: "nss", Value: ns}}
	if uuid != nil {
		d = append(d, bson.E{Key: "uuid", Value: uuidValue(*uuid)})
	}
	c.config.insert("placementHistory", append(d,
		bson.E{Key: "timestamp", Value: c.Timestamp()}, bson.E{Key: "shards", Value: list}))
}
