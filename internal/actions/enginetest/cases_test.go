package enginetest

import (
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/balance"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Case is one command that the engine can send, with everything that leads to it.
type Case struct {
	Name    string
	Release string // "" means 5.0
	Command string // its name in the wire protocol
	Before  func(*Rig)
	Kind    actions.Kind
	Args    actions.Args
	NoUndo  bool // the change cannot be undone
}

// Setup is the rig of a case.
func (c Case) Setup() Setup {
	return Setup{Sim: simcluster.Options{ServerVersion: c.Release}}
}

// Plan prepares the cluster and makes the plan of the case.
func (c Case) Plan(r *Rig) actions.Plan {
	r.Helper()
	if c.Before != nil {
		c.Before(r)
	}
	return r.Plan(c.Kind, c.Args)
}

func addToZone(shard, name string) func(*Rig) {
	return func(r *Rig) {
		r.Admin(bson.D{{Key: "addShardToZone", Value: shard}, {Key: "zone", Value: name}})
	}
}

// insertRows fills the chunk [10, 20), so that it has a median.
func insertRows(r *Rig) {
	var docs bson.A
	for i := range 400 {
		docs = append(docs, bson.D{{Key: "_id", Value: i}, {Key: "p", Value: 10 + float64(i)/100},
			{Key: "text", Value: string(make([]byte, 100))}})
	}
	_, err := r.Sim.Command(r.Context(), "app", bson.D{{Key: "insert", Value: "users"}, {Key: "documents", Value: docs}})
	r.Must(err)
}

// flagFirstChunk sets the jumbo flag of the chunk [0, 10).
func flagFirstChunk(r *Rig) {
	r.setJumboFlag(true)
	r.Restart() // a flag changes no version, so only a new table shows it at once
}

// balancerOn turns the balancer on; in a still cluster it does nothing by itself.
func balancerOn(r *Rig) { r.Admin(bson.D{{Key: "balancerStart", Value: 1}}) }

// drainThird lets somebody drain shard-rs-3, which is empty.
func drainThird(r *Rig) { r.Admin(bson.D{{Key: "removeShard", Value: "shard-rs-3"}}) }

// configShard makes the config server a shard.
func configShard(r *Rig) {
	balancerOn(r)
	r.Admin(bson.D{{Key: "transitionFromDedicatedConfigServer", Value: 1}})
	r.Restart()
}

// drainConfig lets somebody drain it, which is empty.
func drainConfig(r *Rig) {
	configShard(r)
	r.Admin(bson.D{{Key: "transitionToDedicatedConfigServer", Value: 1}})
}

// plainCollection makes app.plain, which is not sharded.
func plainCollection(r *Rig) {
	_, err := r.Sim.Command(r.Context(), "app", bson.D{
		{Key: "insert", Value: "plain"}, {Key: "documents", Value: bson.A{bson.D{{Key: "_id", Value: 1}}}},
	})
	r.Must(err)
	r.Restart() // lists the collections again
}

// longerKey is the key of NS with another field.
func longerKey() bson.Raw { return pattern("p", "q") }

// indexLongerKey makes the index that the longer key needs.
func indexLongerKey(r *Rig) {
	_, err := r.Sim.Command(r.Context(), "app", bson.D{{Key: "createIndexes", Value: "users"}, {Key: "indexes", Value: bson.A{
		bson.D{{Key: "key", Value: longerKey()}, {Key: "name", Value: "p_1_q_1"}},
	}}})
	r.Must(err)
}

var off = new(bool)

// Cases returns one case for every command.
func Cases() []Case {
	chunk := [2]bson.Raw{P(0), P(10)}
	return []Case{
		{Name: "split at a key", Command: "split", Kind: actions.Split, Args: actions.Args{NS: NS, At: P(5)}},
		{Name: "split in the middle", Command: "split", Before: insertRows, Kind: actions.Split,
			Args: actions.Args{NS: NS, Bounds: [2]bson.Raw{P(10), P(20)}}},
		{Name: "merge", Command: "mergeChunks", Kind: actions.Merge, Args: actions.Args{NS: NS, Bounds: [2]bson.Raw{P(0), P(20)}}},
		{Name: "move", Command: "moveChunk", Kind: actions.MoveChunk, Args: actions.Args{NS: NS, Bounds: chunk, To: "shard-rs-2"}},
		{Name: "move of 7.0", Release: "7.0", Command: "moveChunk", Kind: actions.MoveChunk,
			Args: actions.Args{NS: NS, Bounds: chunk, To: "shard-rs-2"}},
		{Name: "move a part", Release: "6.0", Command: "moveRange", Kind: actions.MoveChunk,
			Args: actions.Args{NS: NS, Bounds: chunk, Min: P(2), Max: P(4), To: "shard-rs-2"}},
		{Name: "clear jumbo", Command: "clearJumboFlag", Before: flagFirstChunk, Kind: actions.ClearJumbo,
			Args: actions.Args{NS: NS, Bounds: chunk}, NoUndo: true},
		{Name: "refine the shard key", Command: "refineCollectionShardKey", Before: indexLongerKey,
			Kind: actions.RefineKey, Args: actions.Args{NS: NS, Key: longerKey()}, NoUndo: true},
		{Name: "zone, add shard", Command: "addShardToZone", Kind: actions.ZoneAddShard, Args: actions.Args{Shard: "shard-rs-2", Zone: "eu"}},
		{Name: "zone, remove shard", Command: "removeShardFromZone", Before: addToZone("shard-rs-2", "eu"), Kind: actions.ZoneRemoveShard,
			Args: actions.Args{Shard: "shard-rs-2", Zone: "eu"}},
		{Name: "zone, set range", Command: "updateZoneKeyRange", Before: addToZone("shard-rs-1", "eu"), Kind: actions.ZoneSetRange,
			Args: actions.Args{NS: NS, Zone: "eu", Min: P(0), Max: P(10)}},
		{
			Name:    "zone, remove range",
			Command: "updateZoneKeyRange",
			Kind:    actions.ZoneRemoveRange,
			Args:    actions.Args{NS: NS, Zone: "eu", Min: P(0), Max: P(10)},
			Before: func(r *Rig) {
				addToZone("shard-rs-1", "eu")(r)
				r.Admin(bson.D{{Key: "updateZoneKeyRange", Value: NS}, {Key: "min", Value: P(0)},
					{Key: "max", Value: P(10)}, {Key: "zone", Value: "eu"}})
			},
		},
		{Name: "balancer on", Command: "balancerStart", Kind: actions.BalancerOn},
		{Name: "balancer off", Command: "balancerStop", Kind: actions.BalancerOff,
			Before: func(r *Rig) { r.Admin(bson.D{{Key: "balancerStart", Value: 1}}) }},
		{Name: "balancer window", Command: "update", Kind: actions.BalancerWindow, Args: actions.Args{Start: "01:00", Stop: "05:00"}},
		{Name: "balancing of a collection", Command: "update", Kind: actions.BalanceCollection, Args: actions.Args{NS: NS, On: off}},
		{Name: "move primary", Command: "movePrimary", Kind: actions.MovePrimary, Args: actions.Args{DB: "app", To: "shard-rs-2"}},
		{Name: "move a collection", Release: "8.0", Command: "moveCollection", Before: plainCollection,
			Kind: actions.MoveCollection, Args: actions.Args{NS: "app.plain", To: "shard-rs-2"}},
		{Name: "unshard", Release: "8.0", Command: "unshardCollection", Kind: actions.Unshard,
			Args: actions.Args{NS: NS, To: "shard-rs-2"}, NoUndo: true},
		{Name: "drain", Command: "removeShard", Before: balancerOn, Kind: actions.DrainShard,
			Args: actions.Args{Shard: "shard-rs-3"}, NoUndo: true},
		{Name: "drain, by its command", Release: "8.3", Command: "startShardDraining", Before: balancerOn,
			Kind: actions.DrainShard, Args: actions.Args{Shard: "shard-rs-3"}},
		{Name: "stop draining", Release: "8.3", Command: "stopShardDraining", Before: drainThird,
			Kind: actions.StopDraining, Args: actions.Args{Shard: "shard-rs-3"}},
		{Name: "remove a shard", Release: "8.3", Command: "commitShardRemoval", Before: drainThird,
			Kind: actions.RemoveShard, Args: actions.Args{Shard: "shard-rs-3"}, NoUndo: true},
		{Name: "drain the config server", Release: "8.0", Command: "transitionToDedicatedConfigServer", Before: configShard,
			Kind: actions.DrainShard, Args: actions.Args{Shard: "config"}, NoUndo: true},
		{Name: "make the config server dedicated", Release: "8.0", Command: "transitionToDedicatedConfigServer", Before: drainConfig,
			Kind: actions.RemoveShard, Args: actions.Args{Shard: "config"}, NoUndo: true},
		{Name: "balancing of a collection, by command", Release: "8.0.12", Command: "configureCollectionBalancing",
			Kind: actions.BalanceCollection, Args: actions.Args{NS: NS, On: off}},
		{Name: "block moves", Command: "setAllowMigrations", Kind: actions.AllowMigrations, Args: actions.Args{NS: NS, On: off}},
		{Name: "chunk size", Release: "6.0", Command: "configureCollectionBalancing", Kind: actions.ChunkSize,
			Args: actions.Args{NS: NS, Size: &sevenMB}},
		{Name: "automatic merging", Release: "7.0", Command: "configureCollectionBalancing", Kind: actions.AutoMerge,
			Args: actions.Args{NS: NS, On: off}},
		{Name: "defragment", Release: "7.0", Command: "configureCollectionBalancing", Kind: actions.Defragment,
			Args: actions.Args{NS: NS, On: &on}, Before: func(r *Rig) { r.Admin(bson.D{{Key: "balancerStart", Value: 1}}) }, NoUndo: true},
	}
}

var (
	on      = true
	sevenMB = 7
)

func caseNamed(name string) Case {
	all := Cases()
	return all[slices.IndexFunc(all, func(c Case) bool { return c.Name == name })]
}

// moveInThreeSteps is a move of a part of a chunk in a release without moveRange:
// two splits, then the move.
func moveInThreeSteps() Case {
	c := caseNamed("move a part")
	c.Release = "5.0"
	return c
}

// onCases runs a test on every case. Short runs take every fifth, beginning at another one in each test.
func onCases(t *testing.T, offset int, test func(*Rig, Case)) {
	for i, c := range Cases() {
		if testing.Short() && i%5 != offset {
			continue
		}
		t.Run(c.Name, func(t *testing.T) { OnRig(t, c.Setup(), func(r *Rig) { test(r, c) }) })
	}
}

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
	resharding := bson.D{{Key: "reshardCollection", Value: NS}, {Key: "key", Value: newKey()}}
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
			actions.Args{NS: NS, Key: newKey(), InitialChunks: 6}, nil)},
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
		expect.That(r, err == nil && upgraded.Load() && !later.Equal(run.Steps[0].Command),
			"the release has no other command: %v, %v", later, err)
	})
}
