package enginetest

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

func cutAnswer(command string) simcluster.Rule {
	return simcluster.Rule{Command: command, At: simcluster.Replying, Cut: true}
}

// fakeCounter counts without the cluster.
type fakeCounter func(ctx context.Context, ns topology.Namespace) (int64, error)

func (c fakeCounter) CountUpTo(ctx context.Context, ns topology.Namespace, _ bson.Raw, _ int64) (int64, error) {
	return c(ctx, ns)
}

// onCountingRig pins a project in a rig that counts rows, with the cluster's counter
// when c is nil.
func onCountingRig(t *testing.T, c operation.Counter, w actions.WriteRates, test func(r *Rig, p actions.Plan)) {
	t.Helper()
	s := Setup{Sim: simcluster.Options{Projects: 6, Documents: 120, Still: true}, Wrap: func(o *engine.Options) {
		if o.Counter, o.Writes = c, w; c == nil {
			o.Counter = o.Reader.(operation.Counter)
		}
	}}
	OnRig(t, s, func(r *Rig) {
		project := r.Keeper.Directory().All()[2].ID.Hex()
		test(r, r.Plan(actions.Pin, actions.Args{Project: project, Shard: "shard-rs-2"}))
	})
}

// fakeWriteRate knows only the write rate of the collection documents.
type fakeWriteRate struct{}

func (fakeWriteRate) WriteRate(ns topology.Namespace, project string) (float64, bool) {
	return 2.5, ns == "yorkie-meta.documents" && len(project) == 24
}

func TestRowsAreCountedBeforeAndAfterAndADifferenceIsNotAFailure(t *testing.T) {
	onCountingRig(t, nil, fakeWriteRate{}, func(r *Rig, p actions.Plan) {
		id := must.Get(bson.ObjectIDFromHex(p.Args.Project))
		insert := bson.D{{Key: "insert", Value: "documents"}, {Key: "documents", Value: bson.A{
			bson.D{{Key: "_id", Value: bson.NewObjectID()}, {Key: "project_id", Value: id}, {Key: "key", Value: "written meanwhile"}}}}}
		r.Sim.Faults().Add(simcluster.Rule{Command: "addShardToZone", At: simcluster.Received,
			Delay: 4 * time.Second, Do: simcluster.Other("yorkie-meta", insert)})
		run := r.succeeds(r.Start(p).ID)
		r.Restart()
		run = r.runNow(run.ID)
		must.That(r, len(run.Rows) >= 2, "%+v", run.Rows)
		for _, c := range run.Rows {
			grown, both := c.Difference()
			documents := c.NS == "yorkie-meta.documents"
			if want := map[bool]int64{true: 1}[documents]; !both || grown != want || c.Took() < 4*time.Second || c.Project != p.Args.Project {
				r.Errorf("%s: %+v to %+v in %s", c.NS, c.Before, c.After, c.Took())
			}
			expect.That(r, !documents || c.Before.Value != 0, "the project has no documents")
			expect.That(r, c.Writes.Known == documents && (!documents || c.Writes.PerSecond == 2.5), "%s: %+v", c.NS, c.Writes)
		}
	})
}

func TestUncountedRowsGiveAReasonAndDoNotStopTheRun(t *testing.T) {
	for reason, c := range map[string]fakeCounter{
		"tooMany":      func(context.Context, topology.Namespace) (int64, error) { return actions.MostCounted + 1, nil },
		"notPermitted": func(context.Context, topology.Namespace) (int64, error) { return 0, fault.New(fault.Forbidden, "no") },
		"unreachable":  func(context.Context, topology.Namespace) (int64, error) { return 0, errors.New("gone") },
		"tooSlow":      func(ctx context.Context, _ topology.Namespace) (int64, error) { <-ctx.Done(); return 0, ctx.Err() },
	} {
		t.Run(reason, func(t *testing.T) {
			onCountingRig(t, c, nil, func(r *Rig, p actions.Plan) {
				begun := time.Now()
				run := r.Start(p)
				r.Wait(run.ID, func(run engine.Run) bool { return run.State != engine.Planned })
				if took := time.Since(begun); took > 6*time.Second {
					r.Errorf("counting held the run for %s", took)
				}
				run = r.succeeds(run.ID)
				for _, c := range run.Rows {
					if _, both := c.Difference(); both || c.Before.Reason != reason || c.After.Reason != "noBefore" {
						r.Errorf("%s: %+v, %+v", c.NS, c.Before, c.After)
					}
				}
			})
		})
	}
}

func TestStopDoesNotWaitForACount(t *testing.T) {
	hang := fakeCounter(func(ctx context.Context, _ topology.Namespace) (int64, error) { <-ctx.Done(); return 0, ctx.Err() })
	onCountingRig(t, hang, nil, func(r *Rig, p actions.Plan) {
		id := r.Start(p).ID
		time.Sleep(time.Second)
		asked := time.Now()
		r.stop(id)
		run := r.WaitEnd(id)
		if took := run.Ended.Sub(asked); run.State != engine.Stopped || took > time.Second || len(r.Sent(id)) != 0 {
			r.Errorf("%s after %s, %d sent", run.State, took, len(r.Sent(id)))
		}
		for _, c := range run.Rows {
			expect.That(r, c.Before.Reason == "interrupted" && c.After.Reason == "nothingSent", "%+v", c)
		}
	})
}

// countRows lets the engine count rows of the cluster.
func countRows(o *engine.Options) { o.Counter = o.Reader.(operation.Counter) }

func TestRowsOfMovedRangesAreComparedAfterEachGroup(t *testing.T) {
	OnRig(t, Setup{Wrap: countRows}, func(r *Rig) {
		insertRows(r)
		plans := append(moves("shard-rs-2", 0, 10), actions.PlannedChange{Kind: actions.MoveChunk, Args: actions.Args{NS: NS, To: "shard-rs-2",
			Bounds: [2]bson.Raw{P(bson.MinKey{}), P(0)}}})
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: plans, Canary: off, Group: 3})
		rows := run.Batch.Rows
		if run.State != engine.Succeeded || rows.Same != 2 || rows.Different != 0 || rows.Unknown != 1 || len(rows.Counts) != 3 {
			r.Fatalf("%s %v: %+v", run.State, run.Why, rows)
		}
		for item, text := range map[int]string{
			1: "app.users has 0 rows in the moved range, as before.",
			2: "app.users has 400 rows in the moved range, as before.",
			3: "app.users: rows of the moved range are not known: they cannot be counted by its bounds.",
		} {
			found := false
			for _, c := range rows.Counts {
				found = found || c.Item == item && strings.HasPrefix(c.Text().String(), text)
			}
			expect.That(r, found, "item %d lacks %q: %+v", item, text, rows.Counts)
		}
	})
}

func TestRangeWithFewerRowsAfterItsMovePausesTheBatch(t *testing.T) {
	for deleted, pauses := range map[int]bool{5: false, 100: true} {
		OnRig(t, Setup{Wrap: countRows}, func(r *Rig) {
			insertRows(r)
			remove := bson.D{{Key: "delete", Value: "users"}, {Key: "deletes", Value: bson.A{bson.D{
				{Key: "q", Value: bson.D{{Key: "_id", Value: bson.D{{Key: "$lt", Value: deleted}}}}}, {Key: "limit", Value: 0}}}}}
			r.Sim.Faults().Add(simcluster.Rule{Command: "moveChunk", At: simcluster.Received, Do: simcluster.Other("app", remove)})
			id := r.Start(r.Plan(actions.Batch, actions.Args{Plans: moves("shard-rs-2", 10, 20)})).ID
			run := r.Wait(id, func(run engine.Run) bool { return hasEnded(run) || isHeld(run) })
			must.That(r, isHeld(run) == pauses, "%d rows deleted: %s %+v", deleted, run.State, run.Batch)
			if pauses && !strings.Contains(run.Batch.Hold.Why.String(), "400 before item 1, 300 after it") {
				r.Errorf("%s", run.Batch.Hold.Why)
			}
		})
	}
}

func TestBatchKeepsFewCountsOfALargeGroup(t *testing.T) {
	OnRig(t, Setup{Wrap: countRows}, func(r *Rig) {
		for i := range 30 {
			r.Admin(bson.D{{Key: "split", Value: NS}, {Key: "middle", Value: keyDoc(1000 + 10*i)}})
		}
		r.Restart()
		var at []int
		for i := range 29 {
			at = append(at, 1000+10*i)
		}
		run := r.PlanAndRun(actions.Batch, actions.Args{Plans: moves("shard-rs-2", at...), Canary: off, Group: 100})
		if rows := run.Batch.Rows; run.State != engine.Succeeded || rows.Same != 29 || len(rows.Counts) != 20 {
			r.Errorf("%s %v: %d the same, %d kept", run.State, run.Why, rows.Same, len(rows.Counts))
		}
	})
}
