package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// readOp describes a read for error messages.
type readOp struct {
	what      string // infinitive: "read the shards"
	privilege string // "find on config.shards"
	batch     int32  // documents per continuation; 0 = the server's choice
}

// findOn describes a find on a config collection.
func findOn(coll, what string) readOp {
	return readOp{what: what, privilege: "find on config." + coll}
}

// majority is the read concern of all reads from config, because other data may be
// rolled back. The read preference is primary, the default of RunCommand: a lagging
// secondary would return old chunks.
var majority = bson.D{{Key: "level", Value: "majority"}}

// bounded gives a context a deadline when it has none.
func (c *Client) bounded(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return ctx, func() {}
	}
	return context.WithTimeout(ctx, 2*c.timeout)
}

// one runs a command with a single reply document. After a broken connection it tries
// again once, which is safe for reads.
func (c *Client) one(ctx context.Context, db string, cmd bson.D, r readOp) (bson.Raw, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	cmd = c.afterOwnWrites(ctx, cmd)
	reply, err := c.mongo.Database(db).RunCommand(ctx, cmd).Raw()
	if err != nil && connectionBroken(ctx, err) {
		reply, err = c.mongo.Database(db).RunCommand(ctx, cmd).Raw()
	}
	return reply, c.classify(ctx, err, r.what, r.privilege)
}

// each runs a command that returns a cursor and calls f for each document. The bytes
// belong to the cursor: copy what is kept.
func (c *Client) each(ctx context.Context, db string, cmd bson.D, r readOp, f func(bson.Raw) error) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	cmd = c.afterOwnWrites(ctx, cmd)
	cur, err := c.mongo.Database(db).RunCommandCursor(ctx, cmd)
	if err != nil && connectionBroken(ctx, err) {
		cur, err = c.mongo.Database(db).RunCommandCursor(ctx, cmd)
	}
	if err != nil {
		return c.classify(ctx, err, r.what, r.privilege)
	}
	defer func() {
		// The cursor is usually exhausted; then this sends nothing.
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = cur.Close(end)
	}()
	if r.batch > 0 {
		cur.SetBatchSize(r.batch)
	}
	for cur.Next(ctx) {
		if err := f(cur.Current); err != nil {
			return err
		}
	}
	return c.classify(ctx, cur.Err(), r.what, r.privilege)
}

// connectionBroken reports whether a command failed because its connection was dead, with
// time left for another one.
func connectionBroken(ctx context.Context, err error) bool {
	return ctx.Err() == nil && mongo.IsNetworkError(err) && !mongo.IsTimeout(err)
}

// find builds a find command.
func find(coll string, filter bson.D, more ...bson.E) bson.D {
	return append(bson.D{{Key: "find", Value: coll}, {Key: "filter", Value: filter}}, more...)
}

// singleBatch has the fields for a find that ends with its first batch.
func singleBatch(n int) []bson.E {
	return []bson.E{{Key: "limit", Value: int64(n)}, {Key: "batchSize", Value: int32(n)}, {Key: "singleBatch", Value: true}}
}

// fields is an inclusion projection without _id unless named.
func fields(names ...string) bson.E {
	p := bson.D{}
	id := int32(0)
	for _, n := range names {
		if n == "_id" {
			id = 1
			continue
		}
		p = append(p, bson.E{Key: n, Value: int32(1)})
	}
	return bson.E{Key: "projection", Value: append(p, bson.E{Key: "_id", Value: id})}
}

var withMajority = bson.E{Key: "readConcern", Value: majority}
