package enginetest

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/simcluster"
)

// reshardCase is a resharding of NS. Its chunks have another key after it, so the state
// of the cluster is read as the key of the collection.
func reshardCase(t testing.TB) Case {
	return Case{Name: "reshard", Command: "reshardCollection", Kind: actions.ReshardKind,
		Args: actions.Args{NS: NS, Key: newKey(t), InitialChunks: 1}, Before: insertRows}
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
	if got := r.key(); got != want {
		r.Errorf("%s (%s), but the key is %s", run.State, run.Why, got)
	}
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
				run := r.WaitEnd(id)
				if run.State != engine.Succeeded {
					r.Errorf("%s: %s", run.State, run.Why)
				}
				r.checkReshardTrue(run)
			})
		})
	}
}

// Somebody else has begun another resharding between the plan and the command.
func TestAReshardingIsNotSentWhileAnotherRuns(t *testing.T) {
	onReshardRig(t, "5.0.7", func(r *Rig) {
		plan := r.Plan(actions.ReshardKind, actions.Args{NS: NS, Key: newKey(r), InitialChunks: 6})
		r.Admin(bson.D{{Key: "shardCollection", Value: "app.others"}, {Key: "key", Value: bson.D{{Key: "a", Value: 1}}}})
		row := bson.D{{Key: "a", Value: 1}, {Key: "b", Value: 1}}
		r.tryCommand("app", bson.D{{Key: "insert", Value: "others"}, {Key: "documents", Value: bson.A{row}}})
		go r.tryCommand("admin", bson.D{{Key: "reshardCollection", Value: "app.others"}, {Key: "key", Value: bson.D{{Key: "b", Value: 1}}},
			{Key: "numInitialChunks", Value: 1}})
		time.Sleep(10 * time.Second)
		if _, _, err := r.RunPlan(Anna, plan); err == nil {
			r.Error("the plan was run")
		}
		if len(r.Sim.Faults().Seen("reshardCollection")) != 0 {
			r.Error("a command was sent")
		}
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
					if planted.Struck() != 1 || run.State != engine.Succeeded || !run.Resolved {
						r.Errorf("struck %d times: %s %s, resolved %v", planted.Struck(), run.State, run.Why, run.Resolved)
					}
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
		if !r.waitReached(held, time.Minute) || !r.waitReached(committing, time.Hour) {
			r.Fatal("it never committed, or the abort was not sent")
		}
		held.Remove()
		abort := r.WaitEnd(abortID)
		if abort.State != engine.Failed || !strings.Contains(abort.Steps[0].Error, "deciding to commit") {
			r.Errorf("abort: %s %s: %s", abort.State, abort.Why, abort.Steps[0].Error)
		}
		if again := r.Plan(abortKind, actions.Args{NS: NS}); !again.Blocked() {
			r.Errorf("a plan to abort what is committing is not blocked: %+v", again.Checks)
		}
		r.Sim.Faults().Heal()
		run := r.WaitEnd(id)
		if run.State != engine.Succeeded || !r.resharded() {
			r.Errorf("%s: %s", run.State, run.Why)
		}
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
		if late.State != engine.Failed || late.Steps[0].Error == "" {
			r.Errorf("abort: %s %s", late.State, late.Why)
		}
		if run.State != engine.Succeeded {
			r.Errorf("%s: %s", run.State, run.Why)
		}
		r.checkReshardTrue(run)
	})
}
