package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// success completes the reply of a command that worked.
func (c *Cluster) success(fields bson.D) bson.Raw {
	return c.withClusterTime(append(fields, bson.E{Key: "ok", Value: 1.0}))
}

// failure is the reply of a command that failed. Old errors of the server have no code;
// errors that are not of type *status.Error become InternalError.
func (c *Cluster) failure(err error) bson.Raw {
	e := status.Of(err)
	fields := bson.D{{Key: "ok", Value: 0.0}, {Key: "errmsg", Value: e.Message}}
	if !e.NoCode {
		fields = append(fields, bson.E{Key: "code", Value: e.Code}, bson.E{Key: "codeName", Value: e.Name})
	}
	c.stats.asserted()
	return c.withClusterTime(append(fields, e.Extra...))
}

// withClusterTime adds the cluster times that mongos puts at the end of every reply. The
// signature is that of a cluster without access control.
func (c *Cluster) withClusterTime(fields bson.D) bson.Raw {
	now := c.catalog.LastTimestamp()
	reply, err := bson.Marshal(append(fields,
		bson.E{Key: "$clusterTime", Value: bson.D{
			{Key: "clusterTime", Value: now},
			{Key: "signature", Value: bson.D{
				{Key: "hash", Value: bson.Binary{Data: make([]byte, 20)}},
				{Key: "keyId", Value: int64(0)},
			}},
		}},
		bson.E{Key: "operationTime", Value: now},
	))
	if err != nil {
		// This is a bug in a handler. An error reply is easier to debug than a closed
		// connection.
		return c.failure(status.Errorf(status.InternalError, "reply can't be encoded: %s", err.Error()))
	}
	return reply
}
