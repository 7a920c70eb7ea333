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

type planDoc struct {
	ID      string    `bson:"_id"`
	Cluster string    `bson:"cluster"`
	By      string    `bson:"by"`
	Kind    string    `bson:"kind"`
	Hash    string    `bson:"hash"`
	Made    time.Time `bson:"made"`
	Expires time.Time `bson:"expires"`
	Body    []byte    `bson:"body"`
}

func (d planDoc) plan() store.PlanRecord {
	return store.PlanRecord{ID: d.ID, Cluster: d.Cluster, By: d.By, Kind: d.Kind, Hash: d.Hash, Made: d.Made.UTC(),
		Expires: d.Expires.UTC(), Body: d.Body}
}

// batch is how many plans are looked at together to find those without a run.
const batch = 100

// UnrunPlans returns plans that were never run, newest first.
func (db *DB) UnrunPlans(ctx context.Context, cluster string, since time.Time, limit int) (out []store.PlanRecord, err error) {
	if limit <= 0 {
		return nil, nil
	}
	var some []planDoc
	var failed error
	take := func() bool { // those of some without a run
		ran, err := db.haveRun(ctx, some)
		if failed = err; err != nil {
			return false
		}
		for _, d := range some {
			if !ran[d.ID] && len(out) < limit {
				out = append(out, d.plan())
			}
		}
		some = some[:0]
		return len(out) < limit
	}
	err = each(ctx, db, "plans", eq("cluster", cluster, "made", eq("$gte", since)), func(d planDoc) bool {
		some = append(some, d)
		return len(some) < batch || take()
	}, options.Find().SetSort(eq("made", -1)).SetBatchSize(batch))
	if err == nil && failed == nil && len(some) > 0 {
		take()
	}
	return out, errors.Join(err, failed)
}

// haveRun tells which of some plans were run.
func (db *DB) haveRun(ctx context.Context, plans []planDoc) (map[string]bool, error) {
	ids := make([]string, 0, len(plans))
	for _, p := range plans {
		ids = append(ids, p.ID)
	}
	var docs []struct {
		Plan string `bson:"plan"`
	}
	ctx, cancel := db.within(ctx)
	defer cancel()
	cur, err := db.collection("runs").Find(ctx, eq("plan", eq("$in", ids)), options.Find().SetProjection(eq("plan", 1, "_id", 0)))
	if err == nil {
		err = cur.All(ctx, &docs)
	}
	out := map[string]bool{}
	for _, d := range docs {
		out[d.Plan] = true
	}
	return out, db.failed(ctx, err)
}

// DropPlans deletes old plans that were never run.
func (db *DB) DropPlans(ctx context.Context, before time.Time, limit int) (dropped int, err error) {
	err = db.lead(ctx, func(ctx context.Context) error {
		dropped = 0
		forget := before.Add(store.PlanKept - store.PlanRemembered)
		if _, err := db.collection("removed_plans").DeleteMany(ctx, eq("made", eq("$lt", forget))); err != nil {
			return err
		}
		old, err := db.oldPlans(ctx, before, limit)
		if err != nil || len(old) == 0 {
			return err
		}
		ids, removed := make([]string, 0, len(old)), make([]any, 0, len(old))
		for _, p := range old {
			ids, removed = append(ids, p.ID), append(removed, eq("_id", p.ID, "made", p.Made))
		}
		if _, err := db.collection("removed_plans").InsertMany(ctx, removed); err != nil {
			return err
		}
		if _, err := db.collection(approvals).DeleteMany(ctx, eq("plan", eq("$in", ids))); err != nil {
			return err
		}
		if _, err := db.collection("plans").DeleteMany(ctx, eq("_id", eq("$in", ids))); err != nil {
			return err
		}
		dropped = len(ids)
		return nil
	})
	if err != nil {
		return 0, err
	}
	return dropped, nil
}

// oldPlans returns id and time of plans that were never run, oldest first, in a transaction. Plans
// that were run are kept forever, so they are joined in the server.
func (db *DB) oldPlans(ctx context.Context, before time.Time, limit int) (old []planDoc, err error) {
	cur, err := db.collection("plans").Aggregate(ctx, mongo.Pipeline{
		{{Key: "$match", Value: eq("made", eq("$lt", before))}},
		{{Key: "$sort", Value: eq("made", 1)}},
		{{Key: "$project", Value: eq("made", 1)}},
		{{Key: "$lookup", Value: eq("from", "runs", "localField", "_id", "foreignField", "plan", "as", "runs")}},
		{{Key: "$match", Value: eq("runs", bson.A{})}},
		{{Key: "$limit", Value: int64(limit)}},
		{{Key: "$project", Value: eq("made", 1)}},
	})
	if err == nil {
		err = cur.All(ctx, &old)
	}
	return old, err
}
