package cluster

import (
	"context"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
)

// eachAhead is each for cursors of many batches: while f takes the documents of one batch,
// the next one is asked for. At most two batches are in memory. It has no deadline of its
// own, because a large collection takes minutes; the caller ends it by the context.
func (c *Client) eachAhead(ctx context.Context, db string, cmd bson.D, r readOp, f func(bson.Raw) error) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	cur, closeCursor, err := c.cursor(ctx, db, cmd, r)
	if err != nil {
		return err
	}
	defer closeCursor()
	batches := make(chan []bson.Raw)
	used := make(chan []bson.Raw, 2) // empty slices, to be filled again
	done := make(chan error, 1)
	go func() {
		defer close(batches)
		done <- readBatches(ctx, cur, batches, used)
	}()
	err = takeBatches(batches, used, f)
	cancel()
	for range batches { // so that the reader ends
	}
	failed := <-done
	if err != nil {
		return err
	}
	return c.classify(ctx, failed, r.what, r.privilege)
}

// readBatches sends each batch of a cursor as soon as it is there. Documents alias the
// driver's buffer of their reply, which it makes anew for each reply.
func readBatches(ctx context.Context, cur *mongo.Cursor, batches chan<- []bson.Raw, used <-chan []bson.Raw) error {
	var batch []bson.Raw
	for cur.Next(ctx) {
		batch = append(batch, cur.Current)
		if cur.RemainingBatchLength() > 0 {
			continue
		}
		select {
		case batches <- batch:
		case <-ctx.Done():
			return ctx.Err()
		}
		select {
		case batch = <-used:
		default:
			batch = nil
		}
	}
	return cur.Err()
}

func takeBatches(batches <-chan []bson.Raw, used chan<- []bson.Raw, f func(bson.Raw) error) error {
	for batch := range batches {
		for _, doc := range batch {
			if err := f(doc); err != nil {
				return err
			}
		}
		clear(batch) // the reply is garbage now
		select {
		case used <- batch[:0]:
		default:
		}
	}
	return nil
}
