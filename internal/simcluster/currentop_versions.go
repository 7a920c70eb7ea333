package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
)

// moveCommand is the command that a donor runs for a migration: from 6.0 the internal
// form of moveRange (assumed to have the fields of moveChunk).
func (c *Cluster) moveCommand() string {
	if c.version.atLeast(6, 0, 0) {
		return "_shardsvrMoveRange"
	}
	return "moveChunk"
}

// originating is the originatingCommand of a resharding's rows. moveCollection and
// unshardCollection are reshardings too; the field name provenance is assumed.
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
