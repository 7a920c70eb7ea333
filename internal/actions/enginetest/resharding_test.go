package enginetest

import (
	"context"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// newKey is the pattern to which the tests reshard NS.
func newKey(t testing.TB) bson.Raw {
	t.Helper()
	doc, err := bson.Marshal(bson.D{{Key: "q", Value: int32(1)}})
	if err != nil {
		t.Fatal(err)
	}
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
	got, err := r.Client.ReadFact(r.Context(), actions.Fact{Kind: actions.FactCollection, NS: NS})
	r.Must(err)
	return got["key"]
}

func (r *Rig) sentReshards(id string) (n int) {
	for _, s := range r.Sent(id) {
		if s.Name == "reshardCollection" {
			n++
		}
	}
	return n
}

func TestAReshardingIsFollowedToItsEndAndProven(t *testing.T) {
	for _, version := range []string{"5.0.7", "8.0.4"} {
		t.Run(version, func(t *testing.T) {
			onReshardRig(t, version, func(r *Rig) {
				run := r.copying(r.startReshard().ID)
				p := run.Steps[0].Resharding
				if len(p.Shards) == 0 || p.Reason != "" || p.Key != "{q: 1}" || p.Left() != -1 {
					r.Errorf("progress: %+v", p)
				}
				run = r.WaitEnd(run.ID)
				if run.State != engine.Succeeded || run.Steps[0].Resolved || r.key() != "{q: 1}" || !run.CanUndo() {
					r.Errorf("%s %+v, key %s", run.State, run.Steps[0].Why, r.key())
				}
				r.CheckSentOnce(run)
				undo, err := r.Engine.Undo(r.Context(), Anna, run.ID, "")
				r.Must(err)
				if len(undo.Steps) != 1 || undo.Steps[0].Op != actions.OpReshard || undo.Confirm == "" || undo.Risk != actions.High {
					r.Fatalf("undo: %+v", undo)
				}
				if back := r.WaitEnd(r.Start(undo).ID); back.State != engine.Succeeded || r.key() != "{p: 1}" {
					r.Errorf("%s %+v, key %s", back.State, back.Steps[0].Why, r.key())
				}
			})
		})
	}
}

func TestAReshardingIsJoinedAfterACrash(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		id := r.copying(r.startReshard().ID).ID
		r.Kill()
		r.Boot()
		run := r.Wait(id, func(run engine.Run) bool {
			return run.Steps[0].State == engine.Running && run.Steps[0].Resharding != nil
		})
		if run.State != engine.Running || run.Why.Code != "step.joined" {
			r.Errorf("%s %+v", run.State, run.Why)
		}
		run = r.WaitEnd(id)
		if run.State != engine.Succeeded || !run.Resolved || r.key() != "{q: 1}" {
			r.Errorf("%s %+v, key %s", run.State, run.Why, r.key())
		}
		if n := r.sentReshards(id); n != 1 {
			r.Errorf("sent %d times", n)
		}
	})
}

func TestAReshardingThatEndedWhileNobodyLookedIsProven(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		id := r.copying(r.startReshard().ID).ID
		r.Kill()
		time.Sleep(time.Hour)
		r.Boot()
		if run := r.WaitEnd(id); run.State != engine.Succeeded || !run.Resolved || r.sentReshards(id) != 1 {
			r.Errorf("%s %+v, sent %d times", run.State, run.Why, r.sentReshards(id))
		}
	})
}

func TestAnAbortRunsBesideTheReshardingAndIsNamedByIt(t *testing.T) {
	for name, crash := range map[string]bool{"answered": false, "joined after a crash": true} {
		t.Run(name, func(t *testing.T) {
			onReshardRig(t, "5.0.7", func(r *Rig) {
				id := r.copying(r.startReshard().ID).ID
				if crash {
					r.Kill()
					r.Boot()
					r.Wait(id, func(run engine.Run) bool { return run.Why.Code == "step.joined" })
				}
				abort := r.PlanAndRun(actions.ReshardAbort, actions.Args{NS: NS})
				if abort.State != engine.Succeeded {
					r.Fatalf("abort: %s %+v %s", abort.State, abort.Why, abort.Steps[0].Error)
				}
				run := r.WaitEnd(id)
				if run.State != engine.Failed || run.Why.Code != "step.reshardAbortedBy" || !strings.Contains(run.Why.String(), abort.ID) {
					r.Errorf("%s: %s", run.State, run.Why)
				}
				if r.key() != "{p: 1}" || r.sentReshards(id) != 1 || run.CanUndo() {
					r.Errorf("key %s, sent %d times", r.key(), r.sentReshards(id))
				}
			})
		})
	}
}

func TestAnAbortBySomebodyElseIsSaid(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		id := r.copying(r.startReshard().ID).ID
		r.Admin(bson.D{{Key: "abortReshardCollection", Value: NS}})
		if run := r.WaitEnd(id); run.State != engine.Failed || run.Why.Code != "step.reshardAborted" {
			r.Errorf("%s: %s", run.State, run.Why)
		}
	})
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

func TestAnAbortIsRefusedOnceItCommits(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		id := r.copying(r.startReshard().ID).ID
		plan := r.Plan(actions.ReshardAbort, actions.Args{NS: NS})
		r.WaitEnd(id)
		_, _, err := r.RunPlan(Anna, plan)
		if err == nil {
			r.Error("a resharding that has ended was aborted")
		}
		if r.key() != "{q: 1}" {
			r.Errorf("key %s", r.key())
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

func TestAStopLeavesTheReshardingAlone(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		id := r.copying(r.startReshard().ID).ID
		_, err := r.Engine.Stop(context.Background(), Anna, id)
		r.Must(err)
		if run := r.WaitEnd(id); run.Steps[0].State != engine.Succeeded || r.key() != "{q: 1}" {
			r.Errorf("%s %s, key %s", run.State, run.Why, r.key())
		}
	})
}
