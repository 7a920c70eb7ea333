package workload

import (
	"context"
	"math/rand/v2"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// maxChunks is the number of chunks above which the operator merges instead of
// splitting.
const maxChunks = 60

// operate simulates an operator: from time to time it splits a chunk at its median,
// moves one, or merges two adjacent ones, so that even a hashed layout changes.
// Refusals are ignored.
func (w *Workload) operate(ctx context.Context) {
	for n := uint64(0); ; n++ {
		r := w.rng(streamOperator + n)
		wait := operatorEvery/2 + time.Duration(r.Int64N(int64(operatorEvery)))
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		w.note(ctx, "operator", w.act(ctx, r))
	}
}

// chunk has the fields of config.chunks that the operator uses.
type chunk struct {
	Min   bson.Raw `bson:"min"`
	Max   bson.Raw `bson:"max"`
	Shard string   `bson:"shard"`
}

func (w *Workload) act(ctx context.Context, r *rand.Rand) error {
	var sharded []collection
	for _, c := range w.layout.collections {
		if c.key != nil {
			sharded = append(sharded, c)
		}
	}
	coll := sharded[r.IntN(len(sharded))]
	chunks, err := w.chunksOf(ctx, coll)
	if err != nil || len(chunks) == 0 {
		return err
	}
	i := r.IntN(len(chunks))
	ns := w.ns(coll.name)
	switch c := chunks[i]; {
	case len(chunks) > maxChunks || r.IntN(5) == 0:
		if i+1 == len(chunks) || chunks[i+1].Shard != c.Shard {
			return nil // no adjacent chunk on this shard
		}
		_, err = w.admin(ctx, value.D("mergeChunks", ns, "bounds", bson.A{c.Min, chunks[i+1].Max}))
	case r.IntN(2) == 0:
		_, err = w.admin(ctx, value.D("split", ns, "bounds", bson.A{c.Min, c.Max}))
	default:
		_, err = w.admin(ctx, value.D("moveChunk", ns, "bounds", bson.A{c.Min, c.Max}, "to", w.otherShard(r, c.Shard),
			"_waitForDelete", true))
	}
	return err
}

func (w *Workload) otherShard(r *rand.Rand, not string) string {
	for {
		if s := w.o.Shards[r.IntN(len(w.o.Shards))]; s != not || len(w.o.Shards) == 1 {
			return s
		}
	}
}

// chunksOf reads a collection's chunks in key order, as any client would.
func (w *Workload) chunksOf(ctx context.Context, coll collection) ([]chunk, error) {
	reply, err := w.c.Command(ctx, "config", value.D("find", "collections", "filter", value.D("_id", w.ns(coll.name)),
		"limit", int32(1)))
	if err != nil {
		return nil, err
	}
	uuid, err := reply.LookupErr("cursor", "firstBatch", "0", "uuid")
	if err != nil {
		return nil, nil
	}
	reply, err = w.c.Command(ctx, "config", value.D("find", "chunks", "filter", value.D("uuid", uuid),
		"sort", value.D("min", int32(1)), "batchSize", int32(100_000), "singleBatch", true))
	if err != nil {
		return nil, err
	}
	var answer struct {
		Cursor struct {
			FirstBatch []chunk `bson:"firstBatch"`
		} `bson:"cursor"`
	}
	if err := bson.Unmarshal(reply, &answer); err != nil {
		return nil, err
	}
	return answer.Cursor.FirstBatch, nil
}
