package enginetest

import (
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// newKey is the pattern to which the tests reshard NS.
func newKey(t testing.TB) bson.Raw {
	t.Helper()
	doc := must.Get(bson.Marshal(bson.D{{Key: "q", Value: int32(1)}}))
	return doc
}

// onReshardRig runs a test on a cluster that takes its time to reshard, and has documents.
func onReshardRig(t *testing.T, version string, test func(r *Rig)) {
	OnRig(t, Setup{Live: true, Sim: simcluster.Options{ServerVersion: version}}, func(r *Rig) {
		r.Admin(bson.D{{Key: "balancerStop", Value: 1}})
		for i := range 60 {
			r.tryCommand("app", bson.D{{Key: "insert", Value: "users"}, {Key: "documents", Value: bson.A{
				bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i}, {Key: "q", Value: 100 - i}}}}})
		}
		r.Must(r.Watcher.Refresh(r.Context()))
		test(r)
	})
}

func (r *Rig) startReshard() engine.Run {
	r.Helper()
	return r.Start(r.Plan(actions.ReshardKind, actions.Args{NS: NS, Key: newKey(r), InitialChunks: 6}))
}

// copying waits until the run has seen documents being copied.
func (r *Rig) copying(id string) engine.Run {
	r.Helper()
	return r.Wait(id, func(run engine.Run) bool {
		p := run.Steps[0].Resharding
		if p == nil || p.State != "cloning" {
			return false
		}
		documents, _, _, _ := p.Copied()
		return documents > 0
	})
}

func (r *Rig) key() string {
	r.Helper()
	got, err := r.Client.ReadFact(r.Context(), operation.Fact{Kind: operation.FactCollection, NS: NS})
	r.Must(err)
	return got["key"]
}

func TestAReshardingIsFollowedToItsEndAndProven(t *testing.T) {
	for _, version := range []string{"5.0.7", "8.0.4"} {
		t.Run(version, func(t *testing.T) {
			onReshardRig(t, version, func(r *Rig) {
				run := r.copying(r.startReshard().ID)
				p := run.Steps[0].Resharding
				// Only 8.0 estimates what is left after the first documents.
				if len(p.Shards) == 0 || p.Reason != "" || p.Key != "{q: 1}" || (p.Left() == -1) != (version == "5.0.7") {
					r.Errorf("progress: %+v", p)
				}
				run = r.WaitEnd(run.ID)
				if run.State != engine.Succeeded || run.Steps[0].Resolved || r.key() != "{q: 1}" || !run.CanUndo() {
					r.Errorf("%s %+v, key %s", run.State, run.Steps[0].Why, r.key())
				}
				r.CheckSentOnce(run)
				undo := r.undo(run.ID)
				if len(undo.Steps) != 1 || undo.Steps[0].Op != operation.OpReshard || undo.Confirm == "" || undo.Risk != actions.High {
					r.Fatalf("undo: %+v", undo)
				}
				if back := r.WaitEnd(r.Start(undo).ID); back.State != engine.Succeeded || r.key() != "{p: 1}" {
					r.Errorf("%s %+v, key %s", back.State, back.Steps[0].Why, r.key())
				}
			})
		})
	}
}

// With the key that it has, a collection is distributed anew from 8.0 on, and keeps its zones.
func TestACollectionIsDistributedAnewWithItsKey(t *testing.T) {
	onReshardRig(t, "8.0.10", func(r *Rig) {
		addToZone("shard-rs-1", "eu")(r)
		r.Admin(bson.D{{Key: "updateZoneKeyRange", Value: NS}, {Key: "min", Value: bson.D{{Key: "p", Value: 1}}},
			{Key: "max", Value: bson.D{{Key: "p", Value: 2}}}, {Key: "zone", Value: "eu"}})
		r.Must(r.Watcher.Refresh(r.Context()))
		before := r.ReadState()
		c := r.Watcher.Table().Collection(NS)
		run := r.PlanAndRun(actions.ReshardKind, actions.Args{NS: NS, Key: c.Key.Raw(), InitialChunks: 9})
		after := r.ReadState()
		on := map[string]bool{}
		for _, k := range after.Chunks {
			on[k.Shard] = true
		}
		if run.State != engine.Succeeded || run.CanUndo() || r.key() != "{p: 1}" {
			r.Errorf("%s %+v, can be undone %t, key %s", run.State, run.Steps[0].Why, run.CanUndo(), r.key())
		}
		if len(on) < 2 || !slices.Equal(after.Ranges, before.Ranges) {
			r.Errorf("chunks are on %v, zones %v", on, after.Ranges)
		}
		if now := r.Watcher.Table().Collection(NS); now.Incarnation == c.Incarnation {
			r.Error("it is the same collection as before")
		}
		r.CheckSentOnce(run)
	})
}

// startReshardOrUnshard begins the operation of a release: from 8.0 on, an unsharding.
func (r *Rig) startReshardOrUnshard(version string) (id string, abort actions.Kind) {
	r.Helper()
	if version == "8.0.4" {
		return r.copying(r.Start(r.Plan(actions.Unshard, actions.Args{NS: NS, To: "shard-rs-2"})).ID).ID, actions.UnshardAbort
	}
	return r.copying(r.startReshard().ID).ID, actions.ReshardAbort
}

func onReshardOrUnshard(t *testing.T, test func(r *Rig, version string)) {
	for _, version := range []string{"5.0.7", "8.0.4"} {
		t.Run(version, func(t *testing.T) { onReshardRig(t, version, func(r *Rig) { test(r, version) }) })
	}
}

// resharded reports whether the operation has had its effect.
func (r *Rig) resharded() bool { return r.key() != "{p: 1}" || r.ReadState().Unsplittable }

func TestAReshardingIsJoinedAfterACrash(t *testing.T) {
	onReshardOrUnshard(t, func(r *Rig, version string) {
		id, _ := r.startReshardOrUnshard(version)
		r.Restart()
		run := r.Wait(id, func(run engine.Run) bool {
			return run.Steps[0].State == engine.Running && run.Steps[0].Resharding != nil
		})
		if run.State != engine.Running || run.Why.Code != "step.joined" {
			r.Errorf("%s %+v", run.State, run.Why)
		}
		run = r.WaitEnd(id)
		if run.State != engine.Succeeded || !run.Resolved || !r.resharded() || version == "8.0.4" && run.CanUndo() {
			r.Errorf("%s %+v, key %s", run.State, run.Why, r.key())
		}
		r.CheckSentOnce(run)
	})
}

func TestAnAbortEndsTheRunOfTheReshardingWithoutEffect(t *testing.T) {
	for _, by := range []string{"a run", "a run, after a crash", "somebody else"} {
		onReshardOrUnshard(t, func(r *Rig, version string) {
			id, kind := r.startReshardOrUnshard(version)
			want := ""
			switch by {
			case "somebody else":
				command := map[string]string{"5.0.7": "abortReshardCollection", "8.0.4": "abortUnshardCollection"}[version]
				r.Admin(bson.D{{Key: command, Value: NS}})
			case "a run, after a crash":
				r.Restart()
				r.Wait(id, func(run engine.Run) bool { return run.Why.Code == "step.joined" })
				fallthrough
			default:
				abort := r.PlanAndRun(kind, actions.Args{NS: NS})
				if want = abort.ID; abort.State != engine.Succeeded {
					r.Fatalf("abort: %s %+v %s", abort.State, abort.Why, abort.Steps[0].Error)
				}
			}
			run := r.WaitEnd(id)
			named, _ := run.Why.Fact("run")
			if run.State != engine.Failed || named.Value != want || r.resharded() || run.CanUndo() {
				r.Errorf("%s: %s: %s, aborted by %q, want %q", by, run.State, run.Why, named.Value, want)
			}
			r.CheckSentOnce(run)
		})
	}
}

func TestACommitEndsTheReshardingEarly(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		id := r.copying(r.startReshard().ID).ID
		begun := time.Now()
		commit := r.PlanAndRun(actions.ReshardCommit, actions.Args{NS: NS})
		run := r.WaitEnd(id)
		if commit.State != engine.Succeeded || run.State != engine.Succeeded || r.key() != "{q: 1}" || time.Since(begun) > time.Minute {
			r.Errorf("commit %s %s, run %s, key %s after %s", commit.State, commit.Why, run.State, r.key(), time.Since(begun))
		}
	})
}

func TestAnotherRunWaitsWhileItsCollectionIsResharded(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		split := r.Plan(actions.Split, actions.Args{NS: NS, At: P(15)})
		id := r.copying(r.startReshard().ID).ID
		if _, _, err := r.RunPlan(Anna, split); err == nil {
			r.Error("a split was started during a resharding")
		}
		r.WaitEnd(id)
	})
}
