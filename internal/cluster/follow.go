package cluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// followWait is how long the config server waits for an entry before it answers with none.
const followWait = 10 * time.Second

// followLate is how much later its answer may come: then the mongos or the config server hangs.
const followLate = 2 * time.Second

// followBatch bounds the entries of one answer.
const followBatch = 1000

// Follow reads the changelog with a cursor that waits for new entries, and gives those that the servers' clocks date
// from since on, in the order in which they were written, as they come (1 to 4 ms later on real clusters). each gets
// what one answer had; nothing when none came for 10 s. Follow ends with the context, with what the cursor failed
// with, or with fault.NotFound where the log has no entry yet. The cursor is closed then. Needs find on
// config.changelog. It ends without an error when the address has changed.
func (c *Client) Follow(ctx context.Context, since time.Time, each func([]topology.Event)) error {
	op := findOn("changelog", "follow the changelog")
	cmd := find("changelog", bson.D{{Key: "time", Value: bson.D{{Key: "$gte", Value: since}}}}, eventFields,
		bson.E{Key: "tailable", Value: true}, bson.E{Key: "awaitData", Value: true}, bson.E{Key: "batchSize", Value: int32(followBatch)})
	opening, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	cur, closeCursor, err := c.cursor(opening, "config", cmd, op)
	if err != nil {
		return err
	}
	defer closeCursor()
	with := c.newestPool()
	cur.SetMaxAwaitTime(followWait)
	for {
		var batch []topology.Event
		answer, cancel := context.WithTimeout(ctx, followWait+followLate)
		for cur.TryNext(answer) {
			batch = append(batch, decodeEvent(cur.Current))
			if cur.RemainingBatchLength() == 0 {
				break
			}
		}
		cancel()
		if err := cur.Err(); err != nil {
			return c.classify(ctx, err, op.what, op.privilege)
		}
		if len(batch) == 0 && cur.ID() == 0 {
			return fault.New(fault.NotFound, "The changelog has no entry yet.")
		}
		each(batch)
		if c.newestPool() != with {
			return nil
		}
	}
}

// newestPool is the pool that new commands use.
func (c *Client) newestPool() *pool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.pool
}
