package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/store"
)

type outcomeDoc struct {
	Cluster string    `bson:"cluster"`
	Run     string    `bson:"run"`
	At      time.Time `bson:"at"`
	Open    bool      `bson:"open"`
	Body    []byte    `bson:"body"`
}

func (d outcomeDoc) outcome() store.RunOutcome {
	return store.RunOutcome{Run: d.Run, At: d.At.UTC(), Open: d.Open, Body: d.Body}
}

// SaveRunOutcome adds or replaces the measurements before and after a run.
func (db *DB) SaveRunOutcome(ctx context.Context, cluster string, o store.RunOutcome) error {
	if err := fits("The outcome of a run", o.Body); err != nil {
		return err
	}
	return db.lead(ctx, func(ctx context.Context) error {
		return db.upsert(ctx, "run_outcomes", eq("cluster", cluster, "run", o.Run), outcomeDoc{cluster, o.Run, o.At, o.Open, bytesOf(o.Body)})
	})
}

// RunOutcome returns the measurements before and after a run.
func (db *DB) RunOutcome(ctx context.Context, cluster, run string) (store.RunOutcome, error) {
	d, err := one[outcomeDoc](ctx, db, "run_outcomes", eq("cluster", cluster, "run", run))
	if err != nil {
		return store.RunOutcome{}, missing(err, "Nothing was measured of this run.")
	}
	return d.outcome(), nil
}

// OpenRunOutcomes returns those that are still being measured.
func (db *DB) OpenRunOutcomes(ctx context.Context, cluster string) ([]store.RunOutcome, error) {
	return listAs(ctx, db, "run_outcomes", eq("cluster", cluster, "open", true), outcomeDoc.outcome,
		options.Find().SetSort(eq("run", 1)))
}
