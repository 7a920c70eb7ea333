package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/wire"
)

// hello describes this mongos to a driver; isMaster and ismaster are older names.
// Compression and exhaust cursors are not supported, so the fields that would offer
// them are absent.
func (c *Cluster) hello(ctx context.Context, r *engine.Request) (bson.D, error) {
	if r.Conn != nil {
		if client, ok := r.Lookup("client").DocumentOK(); ok && r.Conn.Client == nil {
			r.Conn.Client = client
			r.Conn.App, _ = client.Lookup("application", "name").StringValueOK()
		}
	}
	if err := c.awaitTopologyChange(ctx, r); err != nil {
		return nil, err
	}
	primary := "ismaster"
	if r.Name == "hello" {
		primary = "isWritablePrimary"
	}
	reply := bson.D{{Key: primary, Value: true}, {Key: "msg", Value: "isdbgrid"}}
	if c.version.atLeast(4, 4, 2) {
		reply = append(reply, bson.E{Key: "topologyVersion", Value: c.topologyVersion()})
	}
	if truthy(r.Lookup("helloOk")) {
		reply = append(reply, bson.E{Key: "helloOk", Value: true})
	}
	var id int32
	if r.Conn != nil {
		id = r.Conn.ID
	}
	reply = append(reply,
		bson.E{Key: "maxBsonObjectSize", Value: int32(maxDocument)},
		bson.E{Key: "maxMessageSizeBytes", Value: int32(wire.MaxMessage)},
		bson.E{Key: "maxWriteBatchSize", Value: int32(maxWriteBatch)},
		bson.E{Key: "localTime", Value: bson.NewDateTimeFromTime(c.catalog.Now())},
		bson.E{Key: "logicalSessionTimeoutMinutes", Value: int32(sessionLife / time.Minute)},
		bson.E{Key: "connectionId", Value: id},
		bson.E{Key: "maxWireVersion", Value: c.version.wire},
		bson.E{Key: "minWireVersion", Value: int32(0)},
	)
	if r.Conn != nil && (hasKey(r.Body, "saslSupportedMechs") || hasKey(r.Body, "speculativeAuthenticate")) {
		reply = append(reply, c.access.Of(r.Conn).Hello(r)...)
	}
	return reply, nil
}

// topologyVersion has a constant counter: a mongos never changes its role.
func (c *Cluster) topologyVersion() bson.D {
	return bson.D{{Key: "processId", Value: c.process}, {Key: "counter", Value: int64(0)}}
}

// awaitTopologyChange delays the answer to a streaming monitor until maxAwaitTimeMS is
// over or the cluster closes. The topology never changes.
func (c *Cluster) awaitTopologyChange(ctx context.Context, r *engine.Request) error {
	known, ok := r.Lookup("topologyVersion").DocumentOK()
	wait := r.Lookup("maxAwaitTimeMS")
	if !ok || wait.Type == 0 {
		return nil
	}
	ms, ok := wholeNumber(wait)
	if !ok || ms < 0 {
		return status.Errorf(status.BadValue, "maxAwaitTimeMS must be a non-negative integer")
	}
	if id, ok := known.Lookup("processId").ObjectIDOK(); !ok || id != c.process {
		return nil // the monitor knows an earlier process: answer at once
	}
	select {
	case <-time.After(min(time.Duration(ms), 60_000) * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
