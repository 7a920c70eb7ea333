package enginetest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Plans, runs, stops, undos, other clients, a poller, crashes and faults of the
// cluster, the network and the disk happen in random order. Invariants are checked
// after each turn and, by the RecordChecker, at every write.
func TestRandomSequencesKeepEveryPromise(t *testing.T) {
	from, to := seeds(t, longSeeds(sampleSize(2, 100, 200)))
	for seed := from; seed < to; seed++ {
		sequence(t, seed)
	}
}

func sequence(t *testing.T, seed uint64) {
	t.Run(fmt.Sprintf("ACTIONS_SEED=%d", seed), func(t *testing.T) {
		rng := rand.New(rand.NewPCG(seed, 3))
		release := []string{"5.0", "5.0", "6.0", "7.0", "8.0.12"}[rng.IntN(5)]
		OnCheckedRig(t, Setup{Seed: seed, Sim: simcluster.Options{ServerVersion: release}}, func(r *Rig, w *RecordChecker) {
			g := &game{Rig: r, rng: rng}
			w.OtherClient = func(since time.Time) bool { return g.lastOther.Load() >= since.Add(-time.Minute).UnixNano() }
			g.play()
		})
	})
}

// game is one random sequence.
type game struct {
	*Rig
	rng       *rand.Rand
	lastOther atomic.Int64 // when another client last changed something
	runs      []string     // of this turn

	watching atomic.Pointer[topology.Watcher] // used by the poller
}

// chance is true once in n times.
func (g *game) chance(n int) bool { return g.rng.IntN(n) == 0 }

func pick[T any](g *game, of ...T) T { return of[g.rng.IntN(len(of))] }

func (g *game) play() {
	g.watching.Store(g.Watcher)
	poll, end := context.WithCancel(context.Background())
	polled := make(chan struct{})
	pace := time.Duration(1+g.rng.IntN(90)) * time.Second
	go func() {
		defer close(polled)
		for poll.Err() == nil {
			select {
			case <-time.After(pace):
				_ = g.watching.Load().Refresh(poll)
			case <-poll.Done():
			}
		}
	}()
	defer func() { end(); <-polled }()
	for range 3 {
		g.turn()
		if g.Failed() {
			return
		}
	}
}

// turn makes a plan or two while things go wrong, and then restores peace.
func (g *game) turn() {
	before, quiet := g.ReadState(), time.Now()
	if g.chance(2) {
		g.plantFault()
	}
	g.runs = nil
	for range 1 + g.rng.IntN(2) {
		g.planAndRun()
	}
	g.disturb()
	g.heal()
	healed := time.Now()
	for _, id := range g.runs {
		g.WaitEnd(id)
	}
	if took := time.Since(healed); took > settleLimit {
		g.Errorf("settled %s after all was whole", took)
	}
	time.Sleep(time.Minute) // a run that was reported as not started may still have to end
	g.check()
	if len(g.runs) == 1 && g.lastOther.Load() <= quiet.UnixNano() {
		g.undoAndCompare(g.runs[0], before)
	}
	if g.chance(3) {
		time.Sleep(time.Duration(g.rng.IntN(30)) * time.Minute)
	}
}

func (g *game) heal() {
	time.Sleep(time.Duration(g.rng.IntN(90)) * time.Second)
	g.Rig.heal()
	g.watching.Store(g.Watcher)
}

// check verifies what must hold in peace.
func (g *game) check() {
	g.Helper()
	if torn := g.ReadState().ChunkGap(); torn != "" {
		g.Error(torn)
	}
	for _, run := range g.Disk.allRuns() {
		expect.That(g, !run.State.Open(), "run %s (%s) is still %s (%s)", run.ID, run.Kind, run.State, run.Why.Code)
		g.CheckSentOnce(run)
		g.checkStartAudited(run.ID)
		g.checkAudited(run)
	}
}

// checkAudited verifies that the audit record agrees with the run.
func (r *Rig) checkAudited(run engine.Run) {
	r.Helper()
	last := ""
	for _, e := range r.Disk.Recorded("run.ended") {
		if e.Subject == run.ID {
			last = e.Details["state"]
		}
	}
	expect.That(r, last == string(run.State) || run.State == engine.Undone && last != "",
		"run %s is %s, and its end is recorded as %q", run.ID, run.State, last)
	for i, s := range run.Steps {
		last := ""
		for _, e := range r.Disk.Recorded("run.step") {
			if e.Subject == run.ID && e.Details["step"] == fmt.Sprint(i) {
				last = e.Details["state"]
			}
		}
		expect.That(r, s.State == engine.Planned || last == string(s.State),
			"step %d of run %s is %s, and recorded as %q", i, run.ID, s.State, last)
	}
}

// undoAndCompare undoes a run where possible and verifies that the cluster is as
// before.
func (g *game) undoAndCompare(id string, before ClusterState) {
	g.Helper()
	run, err := g.Engine.RunByID(g.Context(), id)
	g.Must(err)
	if !run.CanUndo() || g.chance(3) {
		return
	}
	time.Sleep(20 * time.Minute) // for the donors to clean up
	p, err := g.Engine.Undo(g.Context(), Bert, id, "chance")
	if err != nil {
		g.Errorf("%s %s, nobody else did anything, and it can't be undone: %v", run.Kind, run.State, err)
		return
	}
	undo, _, err := g.RunPlan(Bert, p)
	if err != nil {
		expect.That(g, p.Blocked(), "the undo of %s does not run: %v", run.Kind, err)
		return
	}
	if undo = g.WaitEnd(undo.ID); undo.State != engine.Succeeded {
		g.Errorf("the undo of %s is %s: %v", run.Kind, undo.State, undo.Why)
	}
	if now := g.ReadState(); !before.Balancer && run.Kind != actions.BalancerOn && now.String() != before.String() {
		g.Errorf("%s was undone, before:\n%safter:\n%s", run.Kind, before, now)
	}
	g.check()
}

// plantFault plants a fault for the commands of this turn, or for the disk.
func (g *game) plantFault() {
	points := simcluster.FaultPoints()
	p := points[g.rng.IntN(len(points))]
	rule := pick(g,
		simcluster.Rule{Err: simcluster.Fail(pick[int32](g, 10107, 11602, 189, 13388, 150, 117, 46, 194, 153, 200, 70))},
		simcluster.Rule{Cut: true}, simcluster.Rule{Cut: true, GoOn: true}, simcluster.Rule{Err: simcluster.Fail(10107), GoOn: true},
		simcluster.Rule{Delay: time.Duration(1+g.rng.IntN(60)) * time.Second}, simcluster.Rule{StepDown: true},
		simcluster.Rule{Freeze: pick(g, "config", "shard-rs-1", "shard-rs-2")})
	rule.Command, rule.At = p.Command, p.At
	if g.chance(4) && p.At == simcluster.Received {
		rule = simcluster.Rule{Command: p.Command, At: p.At, Twice: true}
	}
	switch g.rng.IntN(6) {
	case 0:
		g.Disk.Fail(FailNth(pick(g, "", "save", "intent", "run", "audit"), 1+g.rng.IntN(10), g.chance(2)), nil)
	case 1:
		g.Disk.Fail(nil, FailNth(pick(g, "", "save", "intent", "run", "audit"), 1+g.rng.IntN(10), g.chance(2)))
	default:
		if g.chance(2) { // use a fault that is more likely to strike
			rule.Command, rule.At = "", pick(g, simcluster.Received, simcluster.Committing, simcluster.Replying)
			rule.Match = func(cmd bson.Raw) bool { return cmd.Lookup("comment").Type != 0 }
		}
		g.Sim.Faults().Add(rule)
	}
}

// planAndRun makes a random plan and runs it, where possible.
func (g *game) planAndRun() {
	state, ok := g.observe()
	if !ok {
		return
	}
	kind, args := g.randomRequest(state)
	p, err := g.Engine.Plan(g.Context(), Anna, engine.Request{Kind: kind, Args: args, Reason: "chance"})
	if err != nil {
		expect.That(g, fault.Of(err) != fault.Internal, "%s %+v: %v", kind, args, err)
		return
	}
	run, _, err := g.RunPlan(Anna, p)
	if err != nil {
		return
	}
	g.runs = append(g.runs, run.ID)
}

// observe reads the state of the cluster while things go wrong. A frozen cluster
// does not answer until the end of the turn.
func (g *game) observe() (ClusterState, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	state, err := g.readState(ctx)
	return state, err == nil
}

// key is one of the bounds of the chunks, or a number in between.
func (g *game) key(state ClusterState) bson.Raw {
	if g.chance(2) && len(state.Chunks) > 1 {
		return P(state.Chunks[1+g.rng.IntN(len(state.Chunks)-1)].Lo)
	}
	return P(g.rng.IntN(40))
}

func (g *game) randomRequest(state ClusterState) (actions.Kind, actions.Args) {
	shard, zone := pick(g, "shard-rs-1", "shard-rs-2", "shard-rs-3"), pick(g, "eu", "us")
	bounds := [2]bson.Raw{g.key(state), g.key(state)}
	if len(state.Chunks) > 3 && !g.chance(8) {
		i := 1 + g.rng.IntN(len(state.Chunks)-2)
		bounds = [2]bson.Raw{P(state.Chunks[i].Lo), P(state.Chunks[i].Hi)}
	}
	switch g.rng.IntN(14) {
	case 0, 1:
		return actions.Split, actions.Args{NS: NS, At: g.key(state)}
	case 2, 3:
		if len(state.Chunks) > 4 {
			i := 1 + g.rng.IntN(len(state.Chunks)-3)
			bounds[0], bounds[1] = P(state.Chunks[i].Lo), P(state.Chunks[i+1].Hi)
		}
		return actions.Merge, actions.Args{NS: NS, Bounds: bounds}
	case 4, 5, 6:
		return actions.MoveChunk, actions.Args{NS: NS, Bounds: bounds, To: shard}
	case 7:
		return actions.MoveChunk, actions.Args{NS: NS, Bounds: bounds, Min: g.key(state), Max: g.key(state), To: shard}
	case 8:
		return actions.ZoneAddShard, actions.Args{Shard: shard, Zone: zone}
	case 9:
		return actions.ZoneRemoveShard, actions.Args{Shard: shard, Zone: zone}
	case 10:
		return actions.ZoneSetRange, actions.Args{NS: NS, Zone: zone, Min: bounds[0], Max: bounds[1]}
	case 11:
		if len(state.Ranges) > 0 {
			z := state.Ranges[g.rng.IntN(len(state.Ranges))]
			return actions.ZoneRemoveRange, actions.Args{NS: NS, Zone: z.Zone, Min: P(z.Lo), Max: P(z.Hi)}
		}
		return actions.BalancerWindow, actions.Args{Start: "0" + fmt.Sprint(g.rng.IntN(10)) + ":00", Stop: "13:30"}
	case 12:
		on := g.chance(2)
		return actions.BalanceCollection, actions.Args{NS: NS, On: &on}
	}
	return pick(g, actions.BalancerOn, actions.BalancerOff, actions.BalancerOff), actions.Args{}
}

// disturb lets time pass, stops runs, restarts the process, cuts the network or acts
// as another client.
func (g *game) disturb() {
	for range g.rng.IntN(4) {
		switch g.rng.IntN(8) {
		case 0:
			if len(g.runs) > 0 {
				_, _ = g.Engine.Stop(g.Context(), Bert, g.runs[g.rng.IntN(len(g.runs))])
			}
		case 1:
			g.Kill()
			if len(g.Sim.Faults().Frozen()) > 0 {
				return // a process cannot start while the cluster is frozen
			}
			g.Boot()
			g.watching.Store(g.Watcher)
		case 2:
			g.Network.Cut()
			time.Sleep(time.Duration(g.rng.IntN(30)) * time.Second)
			g.Network.Restore()
		case 3:
			g.lastOther.Store(time.Now().Add(time.Second).UnixNano())
			g.otherClientCommand()
			g.lastOther.Store(time.Now().Add(time.Second).UnixNano())
		default:
			time.Sleep(time.Duration(g.rng.IntN(5000)) * time.Millisecond)
		}
	}
}

func (g *game) otherClientCommand() {
	e := func(k string, v any) bson.E { return bson.E{Key: k, Value: v} }
	state, ok := g.observe()
	if !ok {
		return
	}
	c := state.Chunks[g.rng.IntN(len(state.Chunks)-1)+1]
	for _, cmd := range []bson.D{pick(g,
		bson.D{e("split", NS), e("middle", g.key(state))},
		bson.D{e("moveChunk", NS), e("find", P(c.Lo)), e("to", pick(g, "shard-rs-1", "shard-rs-2", "shard-rs-3"))},
		bson.D{e("addShardToZone", "shard-rs-3"), e("zone", "eu")},
	)} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, _ = g.Sim.Command(ctx, "admin", cmd)
		cancel()
	}
}
