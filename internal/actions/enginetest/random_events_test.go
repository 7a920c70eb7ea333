package enginetest

import (
	"context"
	"fmt"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

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
		if fault.Of(err) == fault.Internal {
			g.Errorf("%s %+v: %v", kind, args, err)
		}
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
