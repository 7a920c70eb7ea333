package mongodb

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

type dismissalDoc struct {
	Cluster string    `bson:"cluster"`
	ID      string    `bson:"id"`
	By      string    `bson:"by"`
	Reason  string    `bson:"reason"`
	At      time.Time `bson:"at"`
}

type takeDoc struct {
	Cluster string    `bson:"cluster"`
	ID      string    `bson:"id"`
	By      string    `bson:"by"`
	Note    string    `bson:"note"`
	At      time.Time `bson:"at"`
}

type silenceDoc struct {
	Cluster string    `bson:"cluster"`
	ID      string    `bson:"id"`
	Alert   string    `bson:"alert"`
	Rule    string    `bson:"rule"`
	By      string    `bson:"by"`
	Reason  string    `bson:"reason"`
	At      time.Time `bson:"at"`
	Until   time.Time `bson:"until"`
}

type watchDoc struct {
	Cluster string    `bson:"cluster"`
	By      string    `bson:"by"`
	Kind    string    `bson:"kind"`
	Subject string    `bson:"subject"`
	At      time.Time `bson:"at"`
}

// Dismiss stores a decision to hide a piece of advice.
func (db *DB) Dismiss(ctx context.Context, cluster string, d store.Dismissal, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		return db.upsert(ctx, "dismissals", eq("cluster", cluster, "id", d.ID), dismissalDoc{cluster, d.ID, d.By, d.Reason, d.At})
	})
}

// Restore deletes such a decision.
func (db *DB) Restore(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		return db.deleteOne(ctx, "dismissals", eq("cluster", cluster, "id", id))
	})
}

// deleteOne is NotFound when there was nothing.
func (db *DB) deleteOne(ctx context.Context, collection string, filter bson.D) error {
	done, err := db.collection(collection).DeleteOne(ctx, filter)
	if err == nil && done.DeletedCount == 0 {
		err = fault.New(fault.NotFound, "It no longer exists: somebody may have removed it already.")
	}
	return err
}

// Dismissals returns all decisions, newest first.
func (db *DB) Dismissals(ctx context.Context, cluster string) ([]store.Dismissal, error) {
	return listAs(ctx, db, "dismissals", eq("cluster", cluster), func(d dismissalDoc) store.Dismissal {
		return store.Dismissal{ID: d.ID, By: d.By, Reason: d.Reason, At: d.At.UTC()}
	}, options.Find().SetSort(eq("at", -1, "id", 1)))
}

// Take stores who deals with a problem.
func (db *DB) Take(ctx context.Context, cluster string, t store.Take, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		return db.upsert(ctx, "takes", eq("cluster", cluster, "id", t.ID), takeDoc{cluster, t.ID, t.By, t.Note, t.At})
	})
}

// Leave deletes that.
func (db *DB) Leave(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		return db.deleteOne(ctx, "takes", eq("cluster", cluster, "id", id))
	})
}

// Takes returns who deals with which problem, newest first.
func (db *DB) Takes(ctx context.Context, cluster string) ([]store.Take, error) {
	return listAs(ctx, db, "takes", eq("cluster", cluster), func(d takeDoc) store.Take {
		return store.Take{ID: d.ID, By: d.By, Note: d.Note, At: d.At.UTC()}
	}, options.Find().SetSort(eq("at", -1, "id", 1)))
}

// AddSilence starts a silence and deletes expired ones.
func (db *DB) AddSilence(ctx context.Context, cluster string, s store.Silence, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		if _, err := db.collection("silences").DeleteMany(ctx, eq("cluster", cluster, "until", eq("$lte", s.At))); err != nil {
			return err
		}
		_, err := db.collection("silences").InsertOne(ctx, silenceDoc{cluster, s.ID, s.Alert, s.Rule, s.By, s.Reason, s.At, s.Until})
		return err
	})
}

// EndSilence ends a silence early.
func (db *DB) EndSilence(ctx context.Context, cluster, id string, e store.AuditEntry) error {
	return db.changeAudited(ctx, e, func(ctx context.Context) error {
		return db.deleteOne(ctx, "silences", eq("cluster", cluster, "id", id))
	})
}

// Silences returns those in force.
func (db *DB) Silences(ctx context.Context, cluster string, now time.Time) ([]store.Silence, error) {
	return listAs(ctx, db, "silences", eq("cluster", cluster, "until", eq("$gt", now)), func(d silenceDoc) store.Silence {
		return store.Silence{ID: d.ID, Alert: d.Alert, Rule: d.Rule, By: d.By, Reason: d.Reason, At: d.At.UTC(), Until: d.Until.UTC()}
	}, options.Find().SetSort(eq("until", 1, "id", 1)))
}

// AddWatch stores a watch.
func (db *DB) AddWatch(ctx context.Context, cluster string, w store.Watch) error {
	return db.change(ctx, func(ctx context.Context) error {
		_, err := db.collection("watches").UpdateOne(ctx, eq("cluster", cluster, "by", w.By, "kind", w.Kind, "subject", w.Subject),
			bson.D{{Key: "$setOnInsert", Value: eq("at", w.At)}}, options.UpdateOne().SetUpsert(true))
		return err
	})
}

// EndWatch deletes a watch.
func (db *DB) EndWatch(ctx context.Context, cluster string, w store.Watch) error {
	return db.change(ctx, func(ctx context.Context) error {
		_, err := db.collection("watches").DeleteOne(ctx, eq("cluster", cluster, "by", w.By, "kind", w.Kind, "subject", w.Subject))
		return err
	})
}

// Watches returns one person's watches.
func (db *DB) Watches(ctx context.Context, cluster, by string) ([]store.Watch, error) {
	return listAs(ctx, db, "watches", eq("cluster", cluster, "by", by), func(d watchDoc) store.Watch {
		return store.Watch{Kind: d.Kind, Subject: d.Subject, By: d.By, At: d.At.UTC()}
	}, options.Find().SetSort(eq("at", 1, "kind", 1, "subject", 1)))
}
