package catalog

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// notePlacement writes a row of config.placementHistory (7.0) when the set of shards
// that own chunks of a collection has changed.
func (c *Cluster) notePlacement(r *Routing) {
	if !c.features.placements || c.table(r.NS) != r {
		return
	}
	owners := r.ShardsOwning()
	if set := strings.Join(owners, ","); set != r.newer.lastPlacement {
		r.newer.lastPlacement = set
		c.writePlacement(r.NS, &r.UUID, r.placedAt(), owners...)
	}
}

// placedAt is when the table became as it is: at the last move of a chunk, or when the collection came to be.
func (r *Routing) placedAt() bson.Timestamp {
	at := r.Timestamp
	for _, ch := range r.chunks {
		if len(ch.History) > 0 && older(at, ch.History[0].ValidAfter) {
			at = ch.History[0].ValidAfter
		}
	}
	return at
}

// writePlacement writes the row. A database has no uuid; a dropped namespace has no
// shards.
func (c *Cluster) writePlacement(ns string, uuid *[16]byte, at bson.Timestamp, shards ...string) {
	if !c.features.placements {
		return
	}
	list := bson.A{}
	for _, s := range shards {
		list = append(list, c.features.shardRef(s))
	}
	d := bson.D{{Key: "_id", Value: c.objectID(configServer)}, {Key: "nss", Value: ns}}
	if uuid != nil {
		d = append(d, bson.E{Key: "uuid", Value: uuidValue(*uuid)})
	}
	c.config.insert("placementHistory", append(d,
		bson.E{Key: "timestamp", Value: at}, bson.E{Key: "shards", Value: list}))
}
