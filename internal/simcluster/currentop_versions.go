package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
)

// moveCommand is what a donor runs for a migration: since 6.0 the internal form of
// moveRange (assumed: with the fields of moveChunk).
func (c *Cluster) moveCommand() string {
	if c.version.atLeast(6, 0, 0) {
		return "_shardsvrMoveRange"
	}
	return "moveChunk"
}

// originating is the command that a resharding's rows name. moveCollection and
// unshardCollection are reshardings of another origin; that the field for it is called
// provenance is assumed.
func originating(r catalog.Resharding) bson.E {
	d := bson.D{
		{Key: "reshardCollection", Value: r.NS}, {Key: "key", Value: r.Key}, {Key: "unique", Value: false},
		{Key: "collation", Value: bson.D{{Key: "locale", Value: "simple"}}},
	}
	if r.To != "" {
		d = append(d, bson.E{Key: "provenance", Value: r.Command}, bson.E{Key: "toShard", Value: r.To})
	}
	return bson.E{Key: "originatingCommand", Value: d}
}
