package simcluster

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
)

// primaryMoveRow is the command that mongos sends to the old primary shard, as a 5.0.7
// showed it: the application name is that of the client. The number makes the operation's
// id unique.
func (c *Cluster) primaryMoveRow(number int, m catalog.PrimaryMove) bson.Raw {
	running := c.catalog.Now().Sub(m.Begun)
	command := bson.D{
		{Key: "_shardsvrMovePrimary", Value: m.DB}, {Key: "to", Value: m.To}, {Key: "commandIsFromRouter", Value: true},
		{Key: "writeConcern", Value: bson.D{{Key: "w", Value: "majority"}, {Key: "wtimeout", Value: int32(60000)}}},
		{Key: "databaseVersion", Value: m.Version}, {Key: "$db", Value: "admin"},
	}
	return encode(append(c.operation(m.From, "conn34", m.App),
		bson.E{Key: "opid", Value: opid(m.From, int64(700+number))},
		bson.E{Key: "secs_running", Value: int64(running / time.Second)},
		bson.E{Key: "microsecs_running", Value: running.Microseconds()},
		bson.E{Key: "op", Value: "command"}, bson.E{Key: "ns", Value: "admin.$cmd"},
		bson.E{Key: "command", Value: command},
		bson.E{Key: "numYields", Value: int32(0)},
		bson.E{Key: "waitingForLock", Value: false}, bson.E{Key: "waitingForFlowControl", Value: false}))
}
