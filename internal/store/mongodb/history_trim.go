package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

// trimBatch is how many documents one transaction deletes. The server advises at most 1,000, and the
// lease is checked in each.
const trimBatch = 500

// TrimHistory deletes what no state at or after before needs: of each stream, everything before its
// last full entry at that time. It goes in batches: what is left when it fails is deleted next time.
func (db *DB) TrimHistory(ctx context.Context, cluster string, before time.Time) error {
	bases, err := db.basesAt(ctx, cluster, before)
	if err != nil {
		return err
	}
	for stream, base := range bases {
		if err := db.trim(ctx, "history", eq("cluster", cluster, "stream", stream, "at", eq("$lt", before), "_id", eq("$lt", base))); err != nil {
			return err
		}
	}
	if err := db.trim(ctx, "history_events", eq("cluster", cluster, "at", eq("$lt", before))); err != nil {
		return err
	}
	if err := db.trim(ctx, "history_watched", eq("cluster", cluster, "until", eq("$lt", before))); err != nil {
		return err
	}
	if err := db.trim(ctx, "history_event_minutes", eq("cluster", cluster, "minute", eq("$lt", before.UnixMilli()/60_000))); err != nil {
		return err
	}
	return db.lead(ctx, func(ctx context.Context) error { return db.trimSpans(ctx, cluster, before) })
}

// basesAt returns the number of the last full entry of each stream at a time, from the index alone.
func (db *DB) basesAt(ctx context.Context, cluster string, at time.Time) (map[string]int64, error) {
	ctx, cancel := db.within(ctx)
	defer cancel()
	cur, err := db.collection("history").Aggregate(ctx, bson.A{
		bson.D{{Key: "$match", Value: eq("cluster", cluster, "whole", true, "at", eq("$lte", at))}},
		bson.D{{Key: "$group", Value: eq("_id", "$stream", "base", eq("$max", "$_id"))}},
	})
	var docs []struct {
		Stream string `bson:"_id"`
		Base   int64  `bson:"base"`
	}
	if err == nil {
		err = cur.All(ctx, &docs)
	}
	out := map[string]int64{}
	for _, d := range docs {
		out[d.Stream] = d.Base
	}
	return out, db.failed(ctx, err)
}

// trim deletes the documents of a filter in batches.
func (db *DB) trim(ctx context.Context, collection string, filter bson.D) error {
	for {
		type id struct {
			ID any `bson:"_id"`
		}
		docs, err := list[id](ctx, db, collection, filter, options.Find().SetProjection(eq("_id", 1)).SetLimit(trimBatch))
		if err != nil || len(docs) == 0 {
			return err
		}
		ids := make(bson.A, 0, len(docs))
		for _, d := range docs {
			ids = append(ids, d.ID)
		}
		err = db.lead(ctx, func(ctx context.Context) error {
			return db.deleteWithParts(ctx, collection, eq("_id", eq("$in", ids)))
		})
		if err != nil || len(docs) < trimBatch {
			return err
		}
	}
}
