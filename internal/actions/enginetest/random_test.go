package enginetest

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// Plans, runs, stops, undos, other clients, a poller, ends of the process and
// faults of the cluster, of the line and of the disk, as dice fall. What must
// always be so is checked after each turn and, by the witness, at every write.
func TestRandomSequencesKeepEveryPromise(t *testing.T) {
	from, to := seeds(t, longSeeds(much(2, 200, 200)))
	sum := &tally{}
	t.Cleanup(func() { t.Logf("seeds %d to %d: %v", from, to-1, sum) })
	for seed := from; seed < to; seed++ {
		sequence(t, seed, sum)
	}
}

// A result of which the disk says that it failed to keep it may be there. A stop that
// is written before the next attempt does not take it back.
func TestAStopDoesNotTakeBackAResultThatTheDiskMayHave(t *testing.T) {
	for _, seed := range []uint64{1704, 4385, 5053, 5851} {
		sequence(t, seed, &tally{})
	}
}

func sequence(t *testing.T, seed uint64, sum *tally) {
	t.Run(fmt.Sprintf("ACTIONS_SEED=%d", seed), func(t *testing.T) {
		t.Parallel()
		rng := rand.New(rand.NewPCG(seed, 3))
		release := []string{"5.0", "5.0", "6.0", "7.0", "8.0.12"}[rng.IntN(5)]
		OnWatchedRig(t, Setup{Seed: seed, Sim: simcluster.Options{ServerVersion: release}}, func(r *Rig, w *Witness) {
			g := &game{Rig: r, rng: rng, sum: sum}
			w.Other = func(since time.Time) bool { return g.other.Load() >= since.Add(-time.Minute).UnixNano() }
			g.play()
		})
	})
}

// tally counts what happened, so that a test in which nothing happens shows.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (t *tally) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]int{}
	}
	t.of[what]++
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprint(t.of)
}

// game is one sequence.
type game struct {
	*Rig
	rng   *rand.Rand
	sum   *tally
	other atomic.Int64 // when another client last changed something
	runs  []string     // of the turn

	watching atomic.Pointer[topology.Watcher] // what the poller asks
}

func (g *game) one(n int) bool { return g.rng.IntN(n) == 0 }

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

// turn is a plan or two with whatever goes wrong, and the peace after it.
func (g *game) turn() {
	before, quiet := g.World(), time.Now()
	if g.one(2) {
		g.sabotage()
	}
	g.runs = nil
	for range 1 + g.rng.IntN(2) {
		g.ask()
	}
	g.disturb()
	g.heal()
	healed := time.Now()
	for _, id := range g.runs {
		g.Ended(id)
	}
	if took := time.Since(healed); took > settled {
		g.Errorf("settled %s after all was whole", took)
	}
	time.Sleep(time.Minute) // whoever was told that there is no run may not wait for its end
	g.check()
	if len(g.runs) == 1 && g.other.Load() <= quiet.UnixNano() {
		g.back(g.runs[0], before)
	}
	if g.one(3) {
		time.Sleep(time.Duration(g.rng.IntN(30)) * time.Minute)
	}
}

// sabotage plants a fault for the commands of this turn, or for the disk.
func (g *game) sabotage() {
	points := simcluster.FaultPoints()
	p := points[g.rng.IntN(len(points))]
	rule := pick(g,
		simcluster.Rule{Err: simcluster.Fail(pick[int32](g, 10107, 11602, 189, 13388, 150, 117, 46, 194, 153, 200, 70))},
		simcluster.Rule{Cut: true}, simcluster.Rule{Cut: true, GoOn: true}, simcluster.Rule{Err: simcluster.Fail(10107), GoOn: true},
		simcluster.Rule{Delay: time.Duration(1+g.rng.IntN(60)) * time.Second}, simcluster.Rule{StepDown: true},
		simcluster.Rule{Freeze: pick(g, "config", "shard-rs-1", "shard-rs-2")})
	rule.Command, rule.At = p.Command, p.At
	if g.one(4) && p.At == simcluster.Received {
		rule = simcluster.Rule{Command: p.Command, At: p.At, Twice: true}
	}
	switch g.rng.IntN(6) {
	case 0:
		g.Disk.Fail(Nth(pick(g, "", "save", "intent", "run", "audit"), 1+g.rng.IntN(10), g.one(2)), nil)
		g.sum.count("disk full")
	case 1:
		g.Disk.Fail(nil, Nth(pick(g, "", "save", "intent", "run", "audit"), 1+g.rng.IntN(10), g.one(2)))
		g.sum.count("fsync failed")
	default:
		if g.one(2) { // more often one that strikes
			rule.Command, rule.At = "", pick(g, simcluster.Received, simcluster.Committing, simcluster.Replying)
			rule.Match = func(cmd bson.Raw) bool { return cmd.Lookup("comment").Type != 0 }
		}
		g.Sim.Faults().Add(rule)
		g.sum.count("faults")
	}
}

// ask makes a random plan and runs it, where that is possible.
func (g *game) ask() {
	w, ok := g.glance()
	if !ok {
		g.sum.count("no plan")
		return
	}
	kind, args := g.idea(w)
	p, err := g.Engine.Plan(g.Context(), Anna, engine.Request{Kind: kind, Args: args, Reason: "chance"})
	if err != nil {
		if fault.Of(err) == fault.Internal {
			g.Errorf("%s %+v: %v", kind, args, err)
		}
		g.sum.count("no plan")
		return
	}
	run, _, err := g.Engine.Run(g.Context(), Anna, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
	if err != nil {
		g.sum.count("no run")
		return
	}
	g.sum.count("runs")
	g.runs = append(g.runs, run.ID)
}

// glance is the world as anybody sees it while things go wrong. A frozen cluster
// answers nobody, and it thaws only at the end of the turn.
func (g *game) glance() (World, bool) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	w, err := g.world(ctx)
	return w, err == nil
}

// key is one of the bounds of the chunks, or a number between.
func (g *game) key(w World) bson.Raw {
	if g.one(2) && len(w.Chunks) > 1 {
		return P(w.Chunks[1+g.rng.IntN(len(w.Chunks)-1)].Lo)
	}
	return P(g.rng.IntN(40))
}

func (g *game) idea(w World) (actions.Kind, actions.Args) {
	shard, zone := pick(g, "shard-rs-1", "shard-rs-2", "shard-rs-3"), pick(g, "eu", "us")
	bounds := [2]bson.Raw{g.key(w), g.key(w)}
	if len(w.Chunks) > 3 && !g.one(8) {
		i := 1 + g.rng.IntN(len(w.Chunks)-2)
		bounds = [2]bson.Raw{P(w.Chunks[i].Lo), P(w.Chunks[i].Hi)}
	}
	switch g.rng.IntN(14) {
	case 0, 1:
		return actions.Split, actions.Args{NS: NS, At: g.key(w)}
	case 2, 3:
		if len(w.Chunks) > 4 {
			i := 1 + g.rng.IntN(len(w.Chunks)-3)
			bounds[0], bounds[1] = P(w.Chunks[i].Lo), P(w.Chunks[i+1].Hi)
		}
		return actions.Merge, actions.Args{NS: NS, Bounds: bounds}
	case 4, 5, 6:
		return actions.MoveChunk, actions.Args{NS: NS, Bounds: bounds, To: shard}
	case 7:
		return actions.MoveChunk, actions.Args{NS: NS, Bounds: bounds, Min: g.key(w), Max: g.key(w), To: shard}
	case 8:
		return actions.ZoneAddShard, actions.Args{Shard: shard, Zone: zone}
	case 9:
		return actions.ZoneRemoveShard, actions.Args{Shard: shard, Zone: zone}
	case 10:
		return actions.ZoneSetRange, actions.Args{NS: NS, Zone: zone, Min: bounds[0], Max: bounds[1]}
	case 11:
		if len(w.Ranges) > 0 {
			z := w.Ranges[g.rng.IntN(len(w.Ranges))]
			return actions.ZoneRemoveRange, actions.Args{NS: NS, Zone: z.Zone, Min: P(z.Lo), Max: P(z.Hi)}
		}
		return actions.BalancerWindow, actions.Args{Start: "0" + fmt.Sprint(g.rng.IntN(10)) + ":00", Stop: "13:30"}
	case 12:
		on := g.one(2)
		return actions.BalanceCollection, actions.Args{NS: NS, On: &on}
	}
	return pick(g, actions.BalancerOn, actions.BalancerOff, actions.BalancerOff), actions.Args{}
}

// disturb is what happens while runs run: time, stops, ends of the process, a
// broken line, another client.
func (g *game) disturb() {
	for range g.rng.IntN(4) {
		switch g.rng.IntN(8) {
		case 0:
			if len(g.runs) > 0 {
				_, _ = g.Engine.Stop(g.Context(), Bert, g.runs[g.rng.IntN(len(g.runs))])
				g.sum.count("stops")
			}
		case 1:
			g.Kill()
			g.sum.count("restarts")
			if len(g.Sim.Faults().Frozen()) > 0 {
				return // nothing to start with, before it is whole
			}
			g.Boot()
			g.watching.Store(g.Watcher)
		case 2:
			g.Line.Cut()
			time.Sleep(time.Duration(g.rng.IntN(30)) * time.Second)
			g.Line.Mend()
			g.sum.count("cuts of the line")
		case 3:
			g.other.Store(time.Now().Add(time.Second).UnixNano())
			g.foreign()
			g.other.Store(time.Now().Add(time.Second).UnixNano())
			g.sum.count("other clients")
		default:
			time.Sleep(time.Duration(g.rng.IntN(5000)) * time.Millisecond)
		}
	}
}

func (g *game) foreign() {
	e := func(k string, v any) bson.E { return bson.E{Key: k, Value: v} }
	w, ok := g.glance()
	if !ok {
		return
	}
	c := w.Chunks[g.rng.IntN(len(w.Chunks)-1)+1]
	for _, cmd := range []bson.D{pick(g,
		bson.D{e("split", NS), e("middle", g.key(w))},
		bson.D{e("moveChunk", NS), e("find", P(c.Lo)), e("to", pick(g, "shard-rs-1", "shard-rs-2", "shard-rs-3"))},
		bson.D{e("addShardToZone", "shard-rs-3"), e("zone", "eu")},
	)} {
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		_, _ = g.Sim.Command(ctx, "admin", cmd)
		cancel()
	}
}

func (g *game) heal() {
	time.Sleep(time.Duration(g.rng.IntN(90)) * time.Second)
	g.Sim.Faults().Heal()
	g.Disk.Fail(nil, nil)
	g.Line.Mend()
	if g.end == nil {
		g.Boot()
		g.watching.Store(g.Watcher)
	}
}

// check is what must be so in peace.
func (g *game) check() {
	g.Helper()
	if torn := g.World().Torn(); torn != "" {
		g.Error(torn)
	}
	for _, run := range g.Disk.all() {
		if run.State.Open() {
			g.Errorf("run %s (%s) is still %s (%s)", run.ID, run.Kind, run.State, run.Why.Code)
		}
		g.SentOnce(run)
		g.onRecord(run.ID)
		g.recorded(run)
	}
}

// recorded: the audit record tells the same as the run.
func (r *Rig) recorded(run engine.Run) {
	r.Helper()
	last := ""
	for _, e := range r.Disk.Recorded("run.ended") {
		if e.Subject == run.ID {
			last = e.Details["state"]
		}
	}
	if last != string(run.State) && (run.State != engine.Undone || last == "") {
		r.Errorf("run %s is %s, and its end is recorded as %q", run.ID, run.State, last)
	}
	for i, s := range run.Steps {
		last := ""
		for _, e := range r.Disk.Recorded("run.step") {
			if e.Subject == run.ID && e.Details["step"] == fmt.Sprint(i) {
				last = e.Details["state"]
			}
		}
		if s.State != engine.Planned && last != string(s.State) {
			r.Errorf("step %d of run %s is %s, and recorded as %q", i, run.ID, s.State, last)
		}
	}
}

// back undoes a run, where that is possible, and then all is as it was.
func (g *game) back(id string, before World) {
	g.Helper()
	run, err := g.Engine.RunByID(g.Context(), id)
	g.Must(err)
	g.sum.count("ended " + string(run.State))
	if !run.CanUndo() || g.one(3) {
		return
	}
	time.Sleep(20 * time.Minute) // donors clean up
	p, err := g.Engine.Undo(g.Context(), Bert, id, "chance")
	if err != nil {
		g.Errorf("%s %s, nobody else did anything, and it can't be undone: %v", run.Kind, run.State, err)
		return
	}
	undo, _, err := g.Engine.Run(g.Context(), Bert, p.ID, engine.RunRequest{Hash: p.Hash, Confirm: p.Confirm})
	if err != nil {
		if !p.Blocked() {
			g.Errorf("the undo of %s does not run: %v", run.Kind, err)
		}
		g.sum.count("undo blocked")
		return
	}
	if undo = g.Ended(undo.ID); undo.State != engine.Succeeded {
		g.Errorf("the undo of %s is %s: %v", run.Kind, undo.State, undo.Why)
	}
	if now := g.World(); !before.Balancer && run.Kind != actions.BalancerOn && now.String() != before.String() {
		g.Errorf("%s was undone, before:\n%safter:\n%s", run.Kind, before, now)
	}
	g.sum.count("undone")
	g.check()
}

// all are the runs on the disk.
func (d *Disk) all() (out []engine.Run) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, record := range slices.Clone(d.runs) {
		var run engine.Run
		if json.Unmarshal(record.Body, &run) == nil {
			out = append(out, run)
		}
	}
	return out
}
