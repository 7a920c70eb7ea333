package engine

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

func TestStepsClaimTheKeysThatTheyChange(t *testing.T) {
	const ns topology.Namespace = "app.users"
	pattern := routing.Pattern("p")
	c := routing.Collection(ns, pattern, routing.Bounds(pattern, 0, 10, 20), "a", "b", "a", "b")
	table := &topology.Table{Collections: []*topology.Collection{c}}
	p := func(n int) bson.Raw {
		return must.Get(bson.Marshal(bson.D{{Key: "p", Value: n}}))
	}
	chunk := func(lo, hi int) []operation.Fact {
		return []operation.Fact{{Kind: operation.FactChunk, NS: ns, Min: p(lo), Max: p(hi), Want: map[string]string{"shard": "a"}}}
	}
	split := func(lo, hi int) operation.Step {
		return operation.Step{Op: operation.OpSplitAt, NS: ns, At: p(lo + 1), Needs: chunk(lo, hi)}
	}
	move := func(lo, hi int, to string) operation.Step {
		return operation.Step{Op: operation.OpMoveRange, NS: ns, Min: p(lo), Max: p(hi), Shard: to, Needs: chunk(0, 10)}
	}
	zone := func(lo, hi int) operation.Step {
		return operation.Step{Op: operation.OpSetRange, NS: ns, Min: p(lo), Max: p(hi), Zone: "z"}
	}
	balancing, reshard := operation.Step{Op: operation.OpBalancing, NS: ns}, operation.Step{Op: operation.OpReshard, NS: ns}
	elsewhere := operation.Step{Op: operation.OpMove, NS: "app.other", Shard: "c", Min: p(0), Max: p(1)}
	for name, test := range map[string]struct {
		a, b     operation.Step
		conflict bool
	}{
		"splits of one chunk":                        {split(0, 10), split(0, 10), true},
		"splits of neighbours":                       {split(0, 10), split(10, 20), false},
		"a split of the chunk of which a part moves": {split(0, 10), move(5, 6, "c"), true},
		"a split elsewhere":                          {split(10, 20), move(5, 6, "c"), false},
		"moves that share a shard":                   {move(0, 10, "c"), elsewhere, true},
		"a zone range over a move":                   {zone(0, 30), move(0, 10, "c"), true},
		"zone ranges side by side":                   {zone(0, 10), zone(10, 20), false},
		"balancing and a move":                       {balancing, move(0, 10, "c"), false},
		"balancing twice":                            {balancing, balancing, true},
		"two settings":                               {balancing, operation.Step{Op: operation.OpChunkSize, NS: ns}, false},
		"a refined key and a split": {
			operation.Step{Op: operation.OpRefineKey, NS: ns}, split(0, 10), true,
		},
		"a resharding and balancing": {reshard, balancing, true},
		"a resharding and its abort": {reshard, operation.Step{Op: operation.OpReshardAbort, NS: ns}, false},
		"resharding and a split of another": {
			operation.Step{Op: operation.OpReshard, NS: "app.other"}, split(0, 10), false,
		},
		"a collection and the primary of its database": {
			operation.Step{Op: operation.OpMoveCollection, NS: ns}, operation.Step{Op: operation.OpMovePrimary, DB: "app"}, true,
		},
		"a range of a collection that is not known": {
			operation.Step{Op: operation.OpSplitAt, NS: "app.x", At: p(1)}, operation.Step{Op: operation.OpBalancing, NS: "app.x"}, true,
		},
		"one zone": {
			operation.Step{Op: operation.OpAddZone, Zone: "z", Shard: "a"}, operation.Step{Op: operation.OpRemoveZone, Zone: "z", Shard: "b"}, true,
		},
		"waiting for the balancer": {
			operation.Step{Op: operation.OpAwait, NS: ns, Min: p(0), Max: p(30)}, split(0, 10), false,
		},
	} {
		var l locks
		first := l.request("A", claimsOf(table, test.a))
		second := l.request("B", claimsOf(table, test.b))
		third, again := l.request("C", claimsOf(table, test.a)), l.request("A", claimsOf(table, test.a))
		expect.That(t, isGranted(first) && isGranted(second) != test.conflict,
			"%s: granted: %v", name, isGranted(second))
		if _, run := second.blocker(); (run == "A") != test.conflict {
			t.Errorf("%s: the second waits for %q", name, run)
		}
		expect.That(t, (!isGranted(third) || len(third.claims) == 0) && isGranted(again),
			"%s: granted to a third run: %v, again to the first: %v", name, isGranted(third), isGranted(again))
		again.release()
		first.release()
		expect.That(t, isGranted(second), "%s: not granted after the release", name)
	}
}

func isGranted(r *lockRequest) bool {
	select {
	case <-r.granted:
		return true
	default:
		return false
	}
}

func TestAChangeIsRunningUntilItsRunHasEnded(t *testing.T) {
	pin := actions.Args{Project: "p", Shard: "a", Mode: actions.ModeMoves}
	x := &execution{run: Run{Kind: actions.Pin, Args: pin, State: Running}}
	e := &Engine{executions: map[string]*execution{"r": x}}
	is := func(k actions.Kind, a actions.Args) bool {
		_, open := e.running(k, a)
		return open
	}
	expect.That(t, is(actions.Pin, pin), "the same change is offered again while it runs")
	other := pin
	other.Shard = "b"
	expect.That(t, !is(actions.Pin, other) && !is(actions.Isolate, pin), "another change is taken for the running one")
	x.run.State = Failed
	expect.That(t, !is(actions.Pin, pin), "a failed run makes its change still")
}
