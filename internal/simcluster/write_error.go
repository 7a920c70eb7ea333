package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// writeError is one entry of writeErrors.
func writeError(index int, err error) bson.D {
	e := status.Of(interrupted(err))
	d := bson.D{
		{Key: "index", Value: int32(index)},
		{Key: "code", Value: e.Code},
		{Key: "codeName", Value: e.Name},
		{Key: "errmsg", Value: e.Message},
	}
	return append(d, e.Extra...)
}

func withWriteErrors(reply bson.D, failed []bson.D) bson.D {
	if len(failed) > 0 {
		reply = append(reply, bson.E{Key: "writeErrors", Value: failed})
	}
	return reply
}

// orderedWrites reads the ordered argument of a write, which is true by default.
func orderedWrites(r *engine.Request) bool {
	v := r.Lookup("ordered")
	return v.Type == 0 || truthy(v)
}
