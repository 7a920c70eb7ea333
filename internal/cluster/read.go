package cluster

import (
	"context"
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
	"go.mongodb.org/mongo-driver/v2/mongo/readpref"
)

// readOp describes a read for error messages.
type readOp struct {
	what      string // infinitive: "read the shards"
	privilege string // "find on config.shards"
	batch     int32  // documents per continuation; 0 = the server's choice
	secondary bool   // read from a secondary where there is one
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

// one runs a command with a single reply document.
func (c *Client) one(ctx context.Context, db string, cmd bson.D, r readOp) (bson.Raw, error) {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	p, err := c.use(ctx)
	if err != nil {
		return nil, err
	}
	defer p.release()
	reply, err := p.readAgain(ctx, db, c.afterOwnWrites(ctx, cmd))
	return reply, c.classify(ctx, err, r.what, r.privilege)
}

// each runs a command that returns a cursor and calls f for each document. The bytes
// belong to the cursor: copy what is kept.
func (c *Client) each(ctx context.Context, db string, cmd bson.D, r readOp, f func(bson.Raw) error) error {
	ctx, cancel := c.bounded(ctx)
	defer cancel()
	cur, closeCursor, err := c.cursor(ctx, db, cmd, r)
	if err != nil {
		return err
	}
	defer closeCursor()
	for cur.Next(ctx) {
		if err := f(cur.Current); err != nil {
			return err
		}
	}
	return c.classify(ctx, cur.Err(), r.what, r.privilege)
}

// cursor runs a command that returns a cursor. The caller closes it, which tells the server that the rest is not
// wanted; usually the cursor is exhausted, and then that sends nothing.
func (c *Client) cursor(ctx context.Context, db string, cmd bson.D, r readOp) (cur *mongo.Cursor, closeCursor func(), err error) {
	p, err := c.use(ctx)
	if err != nil {
		return nil, nil, err
	}
	cmd = c.afterOwnWrites(ctx, cmd)
	cur, endSession, err := p.open(ctx, db, cmd, r)
	if err != nil && connectionBroken(ctx, err) {
		cur, endSession, err = p.open(ctx, db, cmd, r)
	}
	if err != nil {
		p.release()
		return nil, nil, c.classify(ctx, err, r.what, r.privilege)
	}
	if r.batch > 0 {
		cur.SetBatchSize(r.batch)
	}
	return cur, func() {
		defer p.release()
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		err := cur.Err()
		if closed := cur.Close(end); err == nil {
			err = closed
		}
		endSession(err)
	}, nil
}

// open opens a cursor in a session of its own. The caller ends the session when the cursor is closed.
func (p *pool) open(ctx context.Context, db string, cmd bson.D, r readOp) (cur *mongo.Cursor, endSession func(error), err error) {
	inSession, end := p.readSession(ctx)
	run := options.RunCmd()
	if r.secondary {
		run.SetReadPreference(readpref.SecondaryPreferred())
	}
	if cur, err = p.mongo.Database(db).RunCommandCursor(inSession, p.marked(cmd), run); err != nil {
		end(err)
		return nil, nil, err
	}
	return cur, end, nil
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

// fields is an inclusion projection of dotted names, in the form of a find.
func fields(names ...string) bson.E { return bson.E{Key: "projection", Value: including(names...)} }

// including is an inclusion projection of dotted names, without _id unless named. Empty names are fields that this data
// does not have. Duplicates and paths inside of other paths are left out, because the server rejects such projections.
func including(names ...string) bson.D {
	p, id, seen := bson.D{}, int32(0), map[string]bool{"": true}
	for _, n := range names {
		inside := slices.ContainsFunc(names, func(o string) bool { return o != "" && strings.HasPrefix(n, o+".") })
		switch {
		case n == "_id":
			id = 1
		case !seen[n] && !inside:
			p = append(p, bson.E{Key: n, Value: int32(1)})
		}
		seen[n] = true
	}
	return append(p, bson.E{Key: "_id", Value: id})
}

var withMajority = bson.E{Key: "readConcern", Value: majority}
