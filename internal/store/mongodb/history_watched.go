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

type watchedDoc struct {
	Since time.Time `bson:"since"`
	Until time.Time `bson:"until"`
}

// NoteWatched extends the last watched span or starts one.
func (db *DB) NoteWatched(ctx context.Context, cluster string, now time.Time, gap time.Duration) error {
	return db.lead(ctx, func(ctx context.Context) error {
		var last watchedDoc
		err := db.collection("history_watched").FindOne(ctx, eq("cluster", cluster), options.FindOne().SetSort(eq("since", -1))).Decode(&last)
		if err != nil && !errors.Is(err, mongo.ErrNoDocuments) {
			return err
		}
		now := now.UTC().Truncate(time.Millisecond)
		if err == nil && !last.Until.Before(now.Add(-gap)) && !last.Until.After(now) {
			_, err := db.collection("history_watched").UpdateOne(ctx, eq("cluster", cluster, "since", last.Since), set("until", now))
			return err
		}
		_, err = db.collection("history_watched").UpdateOne(ctx, eq("cluster", cluster, "since", now),
			bson.D{{Key: "$setOnInsert", Value: eq("until", now)}}, options.UpdateOne().SetUpsert(true))
		return err
	})
}

// WatchedSpans returns the spans that overlap [from, to).
func (db *DB) WatchedSpans(ctx context.Context, cluster string, from, to time.Time) ([]store.Watched, error) {
	filter := eq("cluster", cluster)
	if !from.IsZero() {
		filter = append(filter, bson.E{Key: "until", Value: eq("$gte", from)})
	}
	if !to.IsZero() {
		filter = append(filter, bson.E{Key: "since", Value: eq("$lt", to)})
	}
	return listAs(ctx, db, "history_watched", filter,
		func(d watchedDoc) store.Watched { return store.Watched{From: d.Since.UTC(), To: d.Until.UTC()} },
		options.Find().SetSort(eq("since", 1)))
}
