package enginetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// newKey is the pattern to which the tests reshard NS.
func newKey() bson.Raw { return pattern("q") }

// onReshardRig runs a test on a cluster that takes its time to reshard, and has documents.
func onReshardRig(t *testing.T, version string, test func(r *Rig)) {
	OnRig(t, Setup{Live: true, Sim: simcluster.Options{ServerVersion: version}}, func(r *Rig) {
		r.Admin(bson.D{{Key: "balancerStop", Value: 1}})
		fillUsers(r)
		r.Must(r.Watcher.Refresh(r.Context()))
		test(r)
	})
}

func (r *Rig) startReshard() engine.Run {
	r.Helper()
	return r.Start(r.Plan(actions.ReshardKind, actions.Args{NS: NS, Key: newKey(), InitialChunks: 6}))
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
		expect.That(r, run.State == engine.Succeeded && !run.CanUndo() && r.key() == "{p: 1}",
			"%s %+v, can be undone %t, key %s", run.State, run.Steps[0].Why, run.CanUndo(), r.key())
		expect.That(r, len(on) >= 2 && slices.Equal(after.Ranges, before.Ranges),
			"chunks are on %v, zones %v", on, after.Ranges)
		expect.That(r, r.Watcher.Table().Collection(NS).Incarnation != c.Incarnation, "it is the same collection as before")
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
		expect.That(r, run.State == engine.Running && run.Why.Code == "step.joined", "%s %+v", run.State, run.Why)
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
			expect.That(r, run.State == engine.Failed && named.Value == want && !r.resharded() && !run.CanUndo(),
				"%s: %s: %s, aborted by %q, want %q", by, run.State, run.Why, named.Value, want)
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

// reshardCase is a resharding of NS. Its chunks have another key after it, so the state
// of the cluster is read as the key of the collection.
func reshardCase(t testing.TB) Case {
	return Case{Name: "reshard", Command: "reshardCollection", Kind: actions.ReshardKind,
		Args: actions.Args{NS: NS, Key: newKey(), InitialChunks: 1}, Before: insertRows}
}

// checkReshardTrue fails the test when the run does not report what is in the cluster, or
// sent more than one command for an intent.
func (r *Rig) checkReshardTrue(run engine.Run) {
	r.Helper()
	time.Sleep(3 * time.Minute) // no command takes effect later, and no effect disappears
	want := "{p: 1}"
	if run.State == engine.Succeeded {
		want = "{q: 1}"
	}
	expect.Equal(r, r.key(), want, "%s (%s): the key", run.State, run.Why)
	r.CheckSentOnce(run)
}

func TestReportsOfReshardingsAreTrueInTheGridOfFaults(t *testing.T) {
	c := reshardCase(t)
	for n, f := range gridFaults() {
		for i, at := range []simcluster.Step{simcluster.Received, simcluster.Replying} {
			p := simcluster.FaultPoint{Command: c.Command, At: at}
			if f.otherClient || f.applies != nil && !f.applies(c, p) || testing.Short() && (n*2+i)%13 != 0 {
				continue
			}
			t.Run(fmt.Sprintf("%s/%s", f.name, at), func(t *testing.T) {
				OnRig(t, c.Setup(), func(r *Rig) {
					plan := c.Plan(r)
					id, healed := r.strike(f, p, f.rule(c, plan), plan)
					run := r.WaitEnd(id)
					if took := time.Since(healed); took > settleLimit {
						r.Errorf("settled %s after the cluster was whole", took)
					}
					r.checkReshardTrue(run)
				})
			})
		}
	}
}

// Faults in the middle of the copy: the operation survives, and is followed to its end.
func TestAReshardingSurvivesFaultsWhileItCopies(t *testing.T) {
	faults := map[string]func(r *Rig){
		"the network is cut":          func(r *Rig) { r.Network.Cut(); time.Sleep(time.Minute); r.Network.Restore() },
		"the config server is frozen": func(r *Rig) { r.Sim.Faults().Freeze("config"); time.Sleep(time.Minute); r.Sim.Faults().Heal() },
		"a shard is frozen":           func(r *Rig) { r.Sim.Faults().Freeze("shard-rs-2"); time.Sleep(time.Minute); r.Sim.Faults().Heal() },
		"shardboard is restarted twice": func(r *Rig) {
			r.Restart()
			time.Sleep(time.Minute)
			r.Restart()
		},
		"shardboard is restarted while the network is cut": func(r *Rig) {
			r.Network.Cut()
			r.Kill()
			time.Sleep(30 * time.Second)
			r.Network.Restore()
			r.Boot()
		},
	}
	for name, strike := range faults {
		t.Run(name, func(t *testing.T) {
			onReshardRig(t, "5.0.7", func(r *Rig) {
				id := r.copying(r.startReshard().ID).ID
				strike(r)
				run := r.succeeds(id)
				r.checkReshardTrue(run)
			})
		})
	}
}

// Somebody else has begun another resharding between the plan and the command.
func TestAReshardingIsNotSentWhileAnotherRuns(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		plan := r.Plan(actions.ReshardKind, actions.Args{NS: NS, Key: newKey(), InitialChunks: 6})
		r.Admin(bson.D{{Key: "shardCollection", Value: "app.others"}, {Key: "key", Value: bson.D{{Key: "a", Value: 1}}}})
		row := bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}
		r.tryCommand("app", bson.D{{Key: "insert", Value: "others"}, {Key: "documents", Value: bson.A{row}}})
		go r.tryCommand("admin", bson.D{{Key: "reshardCollection", Value: "app.others"}, {Key: "key", Value: bson.D{{Key: "b", Value: 1}}},
			{Key: "numInitialChunks", Value: 1}})
		time.Sleep(10 * time.Second)
		if _, _, err := r.RunPlan(Anna, plan); err == nil {
			r.Error("the plan was run")
		}
		expect.Equal(r, len(r.Sim.Faults().Seen("reshardCollection")), 0, "a command was sent")
		time.Sleep(10 * time.Minute)
	})
}

// A primary steps down, and the operation goes on under the next one: the run follows it.
func TestAReshardingSurvivesStepDowns(t *testing.T) {
	for _, at := range []simcluster.Step{simcluster.Cloning, simcluster.Cloned, simcluster.Critical, simcluster.Committing} {
		for _, version := range []string{"5.0.7", "8.0.4"} {
			if testing.Short() && (version == "8.0.4") != (at == simcluster.Cloned) {
				continue
			}
			t.Run(string(at)+"/"+version, func(t *testing.T) {
				onReshardRig(t, version, func(r *Rig) {
					planted := r.Sim.Faults().Add(simcluster.Rule{Command: "reshardCollection", At: at, StepDown: true})
					run := r.WaitEnd(r.startReshard().ID)
					expect.That(r, planted.Struck() == 1 && run.State == engine.Succeeded && run.Resolved,
						"struck %d times: %s %s, resolved %v", planted.Struck(), run.State, run.Why, run.Resolved)
					r.checkReshardTrue(run)
				})
			})
		}
	}
}

// The abort is sent before the operation commits and arrives when it has decided to: the
// server refuses it (340). A new plan is blocked for the same reason.
func TestAnAbortIsRefusedWhileItCommits(t *testing.T) {
	onReshardOrUnshard(t, func(r *Rig, version string) {
		command := map[string]string{"5.0.7": "reshardCollection", "8.0.4": "unshardCollection"}[version]
		committing := r.Sim.Faults().Add(simcluster.Rule{Command: command, At: simcluster.Committing, Hold: true})
		id, abortKind := r.startReshardOrUnshard(version)
		abortCommand := strings.Replace(command, command[:1], "abort"+strings.ToUpper(command[:1]), 1)
		held := r.Sim.Faults().Add(simcluster.Rule{Command: abortCommand, At: simcluster.Received, Hold: true})
		abortID := r.Start(r.Plan(abortKind, actions.Args{NS: NS})).ID
		must.That(r, r.waitReached(held, time.Minute) && r.waitReached(committing, time.Hour),
			"it never committed, or the abort was not sent")
		held.Remove()
		abort := r.WaitEnd(abortID)
		expect.That(r, abort.State == engine.Failed && strings.Contains(abort.Steps[0].Error, "deciding to commit"),
			"abort: %s %s: %s", abort.State, abort.Why, abort.Steps[0].Error)
		if again := r.Plan(abortKind, actions.Args{NS: NS}); !again.Blocked() {
			r.Errorf("a plan to abort what is committing is not blocked: %+v", again.Checks)
		}
		r.Sim.Faults().Heal()
		run := r.WaitEnd(id)
		expect.That(r, run.State == engine.Succeeded && r.resharded(), "%s: %s", run.State, run.Why)
		r.CheckSentOnce(abort)
		r.CheckSentOnce(run)
	})
}

// waitReached waits until a fault has struck.
func (r *Rig) waitReached(rule *simcluster.Planted, patience time.Duration) bool {
	select {
	case <-rule.Reached():
		return true
	case <-time.After(patience):
		return false
	}
}

// An abort that arrives after the commit: the server refuses it, and both runs say so.
func TestAnAbortAfterTheCommit(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		id := r.copying(r.startReshard().ID).ID
		plan := r.Plan(actions.ReshardAbort, actions.Args{NS: NS})
		held := r.Sim.Faults().Add(simcluster.Rule{Command: "abortReshardCollection", At: simcluster.Received, Hold: true})
		abort := r.Start(plan).ID
		r.waitStruck(held, abort)
		run := r.WaitEnd(id) // it commits while the abort is on its way
		r.Sim.Faults().Heal()
		late := r.WaitEnd(abort)
		expect.That(r, late.State == engine.Failed && late.Steps[0].Error != "", "abort: %s %s", late.State, late.Why)
		expect.Equal(r, run.State, engine.Succeeded, "%s", run.Why)
		r.checkReshardTrue(run)
	})
}
