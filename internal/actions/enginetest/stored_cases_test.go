package enginetest

import (
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/balance"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// storedCase is a plan whose records of the first release are in testdata/stored.json.gz.
type storedCase struct {
	Name  string
	Setup Setup
	Plan  func(*Rig) actions.Plan
	rules actions.ApprovalRules
}

// setup is the rig of the case, with its rules.
func (c storedCase) setup() Setup {
	s := c.Setup
	more := s.Wrap
	s.Wrap = func(o *engine.Options) {
		if more != nil {
			more(o)
		}
		o.Approval.Rules = c.rules
	}
	return s
}

// storedCases has every command and every kind of change.
func storedCases() (out []storedCase) {
	for _, c := range Cases() {
		out = append(out, storedCase{Name: c.Name, Setup: c.Setup(), Plan: c.Plan})
	}
	for _, c := range otherWays() {
		out = append(out, storedCase{Name: c.Name, Setup: c.Setup(), Plan: c.Plan})
	}
	projects := Setup{Sim: simcluster.Options{Projects: 4, Documents: 40, Still: true}}
	ofProject := func(k actions.Kind, a actions.Args, before ...func(*Rig, actions.Args)) func(*Rig) actions.Plan {
		return func(r *Rig) actions.Plan {
			a := a
			a.Project = r.Keeper.Directory().All()[2].ID.Hex()
			for _, f := range before {
				f(r, a)
			}
			return r.Plan(k, a)
		}
	}
	pinned := func(r *Rig, a actions.Args) {
		a.Shard = "shard-rs-3"
		r.PlanAndRun(actions.Pin, a)
		r.Disk.forget()
		r.Restart()
	}
	byBalancer := func(r *Rig, _ actions.Args) { balancerOn(r) }
	asked := 0
	hot := Setup{Wrap: func(o *engine.Options) { o.Recent = fakeRecentWrites{&asked} }}
	reshard := func(release string) Setup { return Setup{Live: true, Sim: simcluster.Options{ServerVersion: release}} }
	// running plans a change while another client's command runs.
	running := func(k actions.Kind, a actions.Args, cmd bson.D, before ...func(*Rig)) func(*Rig) actions.Plan {
		return func(r *Rig) actions.Plan {
			r.Admin(bson.D{{Key: "balancerStop", Value: 1}})
			fillUsers(r)
			for _, f := range before {
				f(r)
			}
			if cmd != nil {
				go func() { _, _ = r.Sim.Command(r.Context(), "admin", cmd) }()
				time.Sleep(2 * time.Second)
			}
			r.Must(r.Watcher.Refresh(r.Context()))
			return r.Plan(k, a)
		}
	}
	resharding := bson.D{{Key: "reshardCollection", Value: NS}, {Key: "key", Value: bson.D{{Key: "q", Value: int32(1)}}}}
	key, _ := bson.Marshal(bson.D{{Key: "q", Value: int32(1)}})
	return append(out,
		storedCase{Name: "split a project", Setup: projects, Plan: ofProject(actions.SplitProject, actions.Args{})},
		storedCase{Name: "pin", Setup: projects, Plan: ofProject(actions.Pin, actions.Args{Shard: "shard-rs-3"})},
		storedCase{Name: "pin by the balancer", Setup: projects, Plan: ofProject(actions.Pin,
			actions.Args{Shard: "shard-rs-3", Mode: actions.ModeBalancer}, byBalancer)},
		storedCase{Name: "isolate", Setup: projects, Plan: ofProject(actions.Isolate, actions.Args{Shard: "shard-rs-3"})},
		storedCase{Name: "unpin", Setup: projects, Plan: ofProject(actions.Unpin, actions.Args{}, pinned)},
		storedCase{Name: "spread", Setup: projects, Plan: ofProject(actions.Spread, actions.Args{})},
		storedCase{Name: "split hot", Setup: hot, Plan: func(r *Rig) actions.Plan {
			return r.Plan(actions.SplitHot, actions.Args{NS: NS, Bounds: [2]bson.Raw{P(int32(10)), P(int32(20))}})
		}},
		storedCase{Name: "remove a shard before 8.3", Plan: func(r *Rig) actions.Plan {
			drainThird(r)
			return r.Plan(actions.RemoveShard, actions.Args{Shard: "shard-rs-3"})
		}},
		storedCase{Name: "windows by day", Setup: Setup{Sim: simcluster.Options{ServerVersion: "8.3"}}, Plan: func(r *Rig) actions.Plan {
			return r.Plan(actions.BalancerWindow, actions.Args{Days: "Monday 1:00-2:00"})
		}},
		storedCase{Name: "reshard", Setup: reshard("5.0.7"), Plan: running(actions.ReshardKind,
			actions.Args{NS: NS, Key: key, InitialChunks: 6}, nil)},
		storedCase{Name: "commit a resharding", Setup: reshard("5.0.7"), Plan: running(actions.ReshardCommit, actions.Args{NS: NS}, resharding)},
		storedCase{Name: "abort a resharding", Setup: reshard("5.0.7"), Plan: running(actions.ReshardAbort, actions.Args{NS: NS}, resharding)},
		storedCase{Name: "abort a move", Setup: reshard("8.0.4"), Plan: running(actions.MoveCollectionAbort, actions.Args{NS: "app.plain"},
			bson.D{{Key: "moveCollection", Value: "app.plain"}, {Key: "toShard", Value: "shard-rs-2"}}, plainCollection)},
		storedCase{Name: "abort an unsharding", Setup: reshard("8.0.4"), Plan: running(actions.UnshardAbort, actions.Args{NS: NS},
			bson.D{{Key: "unshardCollection", Value: NS}, {Key: "toShard", Value: "shard-rs-2"}})},
		storedCase{Name: "batch", Plan: func(r *Rig) actions.Plan {
			split := actions.PlannedChange{Kind: actions.Split, Args: actions.Args{NS: NS, At: P(25)}}
			return r.Plan(actions.Batch, actions.Args{Plans: append(moves("shard-rs-2", 0, 10), split)})
		}},
	)
}

// fillUsers gives NS documents, so that copying it takes a while.
func fillUsers(r *Rig) {
	for i := range 60 {
		r.tryCommand("app", bson.D{{Key: "insert", Value: "users"}, {Key: "documents", Value: bson.A{
			bson.D{{Key: "_id", Value: i}, {Key: "p", Value: i}, {Key: "q", Value: 100 - i}}}}})
	}
}

// upgradedTables show another release once the cluster is upgraded.
type upgradedTables struct {
	engine.Tables
	upgraded *atomic.Bool
}

const laterRelease = "8.0.12"

func (u upgradedTables) Table() *topology.Table {
	t := *u.Tables.Table()
	if u.upgraded.Load() {
		t.ServerInfo.Version = laterRelease
	}
	return &t
}

// What is on disk is what is sent, also when the cluster is upgraded to a release with another command in between.
func TestTheCommandOfTheIntentIsSent(t *testing.T) {
	var upgraded atomic.Bool
	s := Setup{Sim: simcluster.Options{ServerVersion: "8.0.9"}, Wrap: func(o *engine.Options) {
		o.Tables = upgradedTables{o.Tables,
			&upgraded}
	}}
	OnRig(t, s, func(r *Rig) {
		r.Disk.Fail(nil, func(w Write) error {
			if w.What == "intent" {
				upgraded.Store(true)
			}
			return nil
		})
		run := r.PlanAndRun(actions.BalanceCollection, actions.Args{NS: NS, On: off})
		sent, intents := r.Sent(run.ID), r.Disk.records().Intents
		if run.State != engine.Succeeded || len(sent) != 1 || len(intents) != 1 || !isPrefix(intents[0].Command, sent[0].Body) {
			r.Errorf("%s: sent %v, intents %v", run.State, sent, intents)
		}
		later, err := run.Steps[0].Step.Command(balance.ReleaseOf(laterRelease))
		if err != nil || !upgraded.Load() || later.Equal(run.Steps[0].Command) {
			r.Errorf("the release has no other command: %v, %v", later, err)
		}
	})
}
