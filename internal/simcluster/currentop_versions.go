package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
)

// relaysMoves tells whether the config server sends every migration to its donor, as a command of its own that names no
// application (seen on 8.0.10, assumed of 6.0 and 7.0; on 5.0.7 the client's moveChunk shows).
func (c *Cluster) relaysMoves() bool { return c.version.atLeast(6, 0, 0) }

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
