package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

type runDoc struct {
	ID      string     `bson:"_id"`
	Seq     int64      `bson:"seq"`
	Plan    string     `bson:"plan"`
	Cluster string     `bson:"cluster"`
	By      string     `bson:"by"`
	State   string     `bson:"state"`
	Open    bool       `bson:"open"`
	Started time.Time  `bson:"started"`
	Ended   *time.Time `bson:"ended"` // null while open
	Body    []byte     `bson:"body"`
}

func (d runDoc) run() store.RunRecord {
	r := store.RunRecord{Seq: d.Seq, ID: d.ID, Plan: d.Plan, Cluster: d.Cluster, By: d.By, State: d.State, Open: d.Open,
		Started: d.Started.UTC(), Body: d.Body}
	if d.Ended != nil {
		r.Ended = d.Ended.UTC()
	}
	return r
}

type intentDoc struct {
	Run     string    `bson:"run"`
	Step    int       `bson:"step"`
	At      time.Time `bson:"at"`
	DB      string    `bson:"db"`
	Command []byte    `bson:"command"`
}

func ended(r store.RunRecord) *time.Time {
	if r.Ended.IsZero() {
		return nil
	}
	t := r.Ended.UTC()
	return &t
}

var errNoRun = fault.New(fault.NotFound, "There is no such run.")

// AddRun stores a new run.
func (db *DB) AddRun(ctx context.Context, r store.RunRecord) error {
	if err := fits("The run", r.Body); err != nil {
		return err
	}
	return db.lead(ctx, func(ctx context.Context) error {
		taken, err := db.exists(ctx, "runs", eq("$or", bson.A{eq("_id", r.ID), eq("plan", r.Plan)}))
		switch {
		case err != nil:
			return err
		case taken:
			return fault.New(fault.Conflict, "There is already a run of this plan.")
		}
		planned, err := db.exists(ctx, "plans", eq("_id", r.Plan))
		switch {
		case err != nil:
			return err
		case !planned:
			return db.noPlan(ctx, r.Plan)
		}
		seq, err := db.number(ctx, "runs", 1)
		if err != nil {
			return err
		}
		_, err = db.collection("runs").InsertOne(ctx, runDoc{ID: r.ID, Seq: seq, Plan: r.Plan, Cluster: r.Cluster, By: r.By, State: r.State,
			Open: r.Open, Started: r.Started, Ended: ended(r), Body: bytesOf(r.Body)})
		return conflict(err, "There is already a run of this plan.")
	})
}

// SaveRun replaces state, end and body of a run.
func (db *DB) SaveRun(ctx context.Context, r store.RunRecord) error {
	if err := fits("The run", r.Body); err != nil {
		return err
	}
	return db.lead(ctx, func(ctx context.Context) error {
		done, err := db.collection("runs").UpdateOne(ctx, eq("_id", r.ID),
			set("state", r.State, "open", r.Open, "ended", ended(r), "body", bytesOf(r.Body)))
		if err == nil && done.MatchedCount == 0 {
			err = errNoRun
		}
		return err
	})
}

// RunRecord returns a run.
func (db *DB) RunRecord(ctx context.Context, id string) (store.RunRecord, error) {
	return db.oneRun(ctx, eq("_id", id))
}

// PlanRun returns the run of a plan.
func (db *DB) PlanRun(ctx context.Context, plan string) (store.RunRecord, error) {
	return db.oneRun(ctx, eq("plan", plan))
}

func (db *DB) oneRun(ctx context.Context, filter bson.D) (store.RunRecord, error) {
	d, err := one[runDoc](ctx, db, "runs", filter)
	if errors.Is(err, mongo.ErrNoDocuments) {
		return store.RunRecord{}, errNoRun
	}
	return d.run(), err
}

// RunRecords returns runs of a cluster, newest first.
func (db *DB) RunRecords(ctx context.Context, cluster string, before int64, limit int) ([]store.RunRecord, error) {
	filter := eq("cluster", cluster)
	if before != 0 {
		filter = eq("cluster", cluster, "seq", eq("$lt", before))
	}
	return db.runs(ctx, filter, options.Find().SetSort(eq("seq", -1)).SetLimit(int64(limit)))
}

// OpenRuns returns the runs of a cluster that have not ended.
func (db *DB) OpenRuns(ctx context.Context, cluster string) ([]store.RunRecord, error) {
	return db.runs(ctx, eq("cluster", cluster, "open", true), options.Find().SetSort(eq("seq", 1)))
}

func (db *DB) runs(ctx context.Context, filter bson.D, o *options.FindOptionsBuilder) ([]store.RunRecord, error) {
	return listAs(ctx, db, "runs", filter, runDoc.run, o)
}

// AddIntent stores an intent.
func (db *DB) AddIntent(ctx context.Context, i store.IntentRecord) error {
	if err := fits("The command", i.Command); err != nil {
		return err
	}
	return db.lead(ctx, func(ctx context.Context) error {
		known, err := db.exists(ctx, "runs", eq("_id", i.Run))
		switch {
		case err != nil:
			return err
		case !known:
			return errNoRun
		}
		_, err = db.collection("intents").InsertOne(ctx, intentDoc{i.Run, i.Step, i.At, i.DB, bytesOf(i.Command)})
		return conflict(err, "There is already an intent of this step.")
	})
}

// Intents returns a run's intents.
func (db *DB) Intents(ctx context.Context, run string) ([]store.IntentRecord, error) {
	return listAs(ctx, db, "intents", eq("run", run), func(d intentDoc) store.IntentRecord {
		return store.IntentRecord{Run: d.Run, Step: d.Step, At: d.At.UTC(), DB: d.DB, Command: d.Command}
	}, options.Find().SetSort(eq("step", 1)))
}
