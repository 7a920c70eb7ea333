package simcluster

import (
	"context"
	"errors"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// writeError is one entry of writeErrors; those of 8.0 have no names of codes.
func (c *Cluster) writeError(index int, err error) bson.D {
	e := status.Of(interrupted(err))
	d := bson.D{{Key: "index", Value: int32(index)}, {Key: "code", Value: e.Code}}
	if !c.version.atLeast(8, 0, 0) {
		d = append(d, bson.E{Key: "codeName", Value: e.Name})
	}
	return append(append(d, bson.E{Key: "errmsg", Value: e.Message}), e.Extra...)
}

func withWriteErrors(reply bson.D, failed []bson.D) bson.D {
	if len(failed) > 0 {
		reply = append(reply, bson.E{Key: "writeErrors", Value: failed})
	}
	return reply
}

// orderedWrites reads the ordered argument of a write, which is true by default. In a
// transaction the first error ends every write.
func orderedWrites(ctx context.Context, r *engine.Request) bool {
	v := r.Lookup("ordered")
	return v.Type == 0 || truthy(v) || transactionOf(ctx) != nil
}

// endsWrite reports whether an error ends the command instead of being one of its write
// errors: the write has to wait, it was interrupted, or its transaction can be tried
// again.
func endsWrite(ctx context.Context, err error) bool {
	var locked *lockedError
	var e *status.Error
	return errors.As(err, &locked) || ctx.Err() != nil && errors.Is(err, ctx.Err()) ||
		errors.As(err, &e) && e.Code == status.ClientDisconnect || transactionOf(ctx) != nil && transient(err)
}
