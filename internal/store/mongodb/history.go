package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

type entryDoc struct {
	Seq     int64     `bson:"_id"`
	Cluster string    `bson:"cluster"`
	Stream  string    `bson:"stream"`
	At      time.Time `bson:"at"`
	Whole   bool      `bson:"whole"`
	Body    body      `bson:",inline"`
}

// AppendHistory adds the entries and events of one moment.
func (db *DB) AppendHistory(ctx context.Context, cluster string, entries []store.HistoryEntry, events []store.HistoryEvent) error {
	size := 0
	for _, e := range entries {
		size += len(e.Body)
	}
	return db.leadWithin(ctx, db.timeFor(size), func(ctx context.Context) error {
		if err := db.appendEntries(ctx, cluster, entries); err != nil {
			return err
		}
		return db.appendEvents(ctx, cluster, events)
	})
}

func (db *DB) appendEntries(ctx context.Context, cluster string, entries []store.HistoryEntry) error {
	if len(entries) == 0 {
		return nil
	}
	seq, err := db.number(ctx, "history", len(entries))
	if err != nil {
		return err
	}
	docs := make([]any, 0, len(entries))
	for i, e := range entries {
		b, err := db.putBody(ctx, e.Body)
		if err != nil {
			return err
		}
		docs = append(docs, entryDoc{seq + int64(i), cluster, e.Stream, e.At, e.Whole, b})
	}
	_, err = db.collection("history").InsertMany(ctx, docs)
	return err
}

func (db *DB) entries(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) (out []store.HistoryEntry, err error) {
	docs, err := list[entryDoc](ctx, db, "history", filter, o)
	for _, d := range docs {
		b, err := db.whole(ctx, d.Body)
		if err != nil {
			return nil, err
		}
		out = append(out, store.HistoryEntry{Seq: d.Seq, At: d.At.UTC(), Stream: d.Stream, Whole: d.Whole, Body: b})
	}
	return out, err
}

// HistoryOf returns the entries from which a stream's state at a time is made.
func (db *DB) HistoryOf(ctx context.Context, cluster, stream string, at time.Time) ([]store.HistoryEntry, error) {
	// From the index alone: the bodies of whole entries are large.
	base, err := one[entryDoc](ctx, db, "history", eq("cluster", cluster, "stream", stream, "at", eq("$lte", at), "whole", true),
		options.FindOne().SetSort(eq("at", -1, "_id", -1)).SetProjection(eq("at", 1)))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return db.entries(ctx, eq("cluster", cluster, "stream", stream, "at", eq("$lte", at), "_id", eq("$gte", base.Seq)),
		options.Find().SetSort(eq("_id", 1)))
}

// between is a filter of entries by time and prefix of the stream. Zero times are open ends.
func between(cluster, prefix string, from, to time.Time) bson.D {
	filter := eq("cluster", cluster)
	if span := spanOf(from, to); len(span) > 0 {
		filter = append(filter, bson.E{Key: "at", Value: span})
	}
	return append(filter, bson.E{Key: "stream", Value: eq("$gte", prefix, "$lt", prefix+"\U0010ffff")})
}

func spanOf(from, to time.Time) (span bson.D) {
	if !from.IsZero() {
		span = append(span, bson.E{Key: "$gte", Value: from})
	}
	if !to.IsZero() {
		span = append(span, bson.E{Key: "$lt", Value: to})
	}
	return span
}

// HistoryTimes returns the times of entries of streams with a prefix.
func (db *DB) HistoryTimes(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) (out []time.Time, err error) {
	type at struct {
		At time.Time `bson:"at"`
	}
	// By the index of times, which has the streams too, so no document is read.
	err = each(ctx, db, "history", between(cluster, prefix, from, to), func(d at) bool {
		if n := len(out); n == 0 || !out[n-1].Equal(d.At) {
			out = append(out, d.At.UTC())
		}
		return len(out) < limit
	}, options.Find().SetSort(eq("at", 1)).SetProjection(eq("at", 1, "_id", 0)))
	return out, err
}

// HistoryBetween returns the entries of a time span.
func (db *DB) HistoryBetween(ctx context.Context, cluster, prefix string, from, to time.Time, limit int) ([]store.HistoryEntry, error) {
	return db.entries(ctx, between(cluster, prefix, from, to), options.Find().SetSort(eq("at", 1, "_id", 1)).SetLimit(int64(limit)))
}

// HistoryStep returns the time of the entry before or after a time.
func (db *DB) HistoryStep(ctx context.Context, cluster, prefix string, at time.Time, forward bool) (time.Time, error) {
	beyond, order := "$lt", -1
	if forward {
		beyond, order = "$gt", 1
	}
	filter := append(between(cluster, prefix, time.Time{}, time.Time{}), bson.E{Key: "at", Value: eq(beyond, at)})
	d, err := one[entryDoc](ctx, db, "history", filter, options.FindOne().SetSort(eq("at", order)).SetProjection(eq("at", 1)))
	if errors.Is(err, mongo.ErrNoDocuments) {
		return time.Time{}, nil
	}
	if err != nil {
		return time.Time{}, err
	}
	return d.At.UTC(), nil
}
