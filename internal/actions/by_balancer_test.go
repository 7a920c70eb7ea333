package actions

import (
	"fmt"
	"slices"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
)

// What a plan makes the balancer move counts as its effect, beyond what the balancer would move anyway.
func TestWhatThePlanMakesTheBalancerMoveCounts(t *testing.T) {
	outside := zone(t, "eu", "c", documents, from(t, 20), from(t, 30)) // of which c has nothing
	quiet := func(s *Situation) { s.Table.Collection(documents).NoBalance = true }
	refusedWindow := func(s *Situation) {
		s.Table.Balancer.Refused = []topology.RefusedSetting{{Doc: "balancer", Field: "activeWindow", Value: "x"}}
	}
	blocked := func(s *Situation) { s.Table.Collection(documents).MigrationsBlocked = true }
	for _, c := range []struct {
		name   string
		kind   Kind
		args   Args
		change []func(*Situation)
		want   string
	}{
		{"a range whose data is elsewhere", ZoneSetRange, rangeArgs("eu", 30, 35)(Situation{}), []func(*Situation){outside, balancing}, "1"},
		{"also while the balancer is off", ZoneSetRange, rangeArgs("eu", 30, 35)(Situation{}), []func(*Situation){outside}, "1"},
		{"a shard less in a zone", ZoneRemoveShard, Args{Shard: "b", Zone: "eu"},
			[]func(*Situation){zone(t, "eu", "bc", documents, from(t, 20), from(t, 30)), balancing}, "1"},
		{"a move out of its zone", MoveChunk, Args{NS: documents, To: "a"},
			[]func(*Situation){zone(t, "eu", "b", documents, from(t, 20), from(t, 40)), balancing}, "1"},
		{"a move within the rules", MoveChunk, Args{NS: documents, To: "c"}, []func(*Situation){balancing}, "nothing"},
		{"the balancer on", BalancerOn, Args{}, []func(*Situation){outside}, "1"},
		{"the balancer on, with nothing to do", BalancerOn, Args{}, nil, "nothing"},
		{"balancing of a collection on", BalanceCollection, Args{NS: documents, On: yes(true)},
			[]func(*Situation){outside, balancing, quiet}, "1"},
		{"its moves allowed", AllowMigrations, Args{NS: documents, On: yes(true)}, []func(*Situation){outside, balancing, blocked}, "1"},
		{"the balancer off", BalancerOff, Args{}, []func(*Situation){outside, balancing}, "nothing"},
		{"another window", BalancerWindow, Args{Start: "01:00", Stop: "02:00"}, []func(*Situation){outside, balancing}, "nothing"},
		{"a window in place of one that stops the balancer", BalancerWindow, Args{Start: "01:00", Stop: "02:00"},
			[]func(*Situation){outside, balancing, refusedWindow}, "1"},
		{"defragmenting", Defragment, Args{NS: documents, On: yes(true)}, []func(*Situation){balancing}, "unknown"},
		{"defragmenting no more", Defragment, Args{NS: documents, On: yes(false)},
			[]func(*Situation){balancing, func(s *Situation) { s.Table.Collection(documents).Defragmenting = true }}, "nothing"},
		{"a split of what has to move anyway", Split, Args{NS: documents, At: doc(project(25))},
			[]func(*Situation){outside, balancing}, "nothing"},
	} {
		release := "5.0.7"
		if c.kind == Defragment {
			release = "6.0.12"
		}
		s := cluster(t, "0.6.38", release, c.change...)
		if c.kind == MoveChunk {
			c.args.Bounds = chunkAt(t, s, documents, 1)
		}
		d, _ := plan(t, s, c.kind, c.args)
		got := "nothing"
		if b := d.Effect.ByBalancer; b != nil {
			got = fmt.Sprint(b.Chunks.Value)
			if !b.Chunks.Known {
				got = "unknown"
			}
		}
		expect.That(t, got == c.want, "%s: the balancer moves %s more, want %s", c.name, got, c.want)
	}
}

// Since 6.0.3 the balancer compares sizes: without them it is not known what it will move.
func TestWhatTheBalancerEvensOutIsUnknownWithoutSizes(t *testing.T) {
	s := cluster(t, "0.6.38", "7.0.2")
	s.Table.Sizes = map[topology.Namespace]topology.Sizes{}
	d, _ := plan(t, s, BalancerOn, Args{})
	if b := d.Effect.ByBalancer; b == nil || b.Chunks.Known {
		t.Errorf("%+v", b)
	}
	expect.Len(t, (ApprovalRules{Chunks: 1000}).Because(BalancerOn, false, d), 1, "because")
}

// Of a plan that may send a move to several shards, all that may come to one has room there.
func TestAPlanNamesOnlyShardsWithRoomForAll(t *testing.T) {
	for _, test := range []struct {
		usedOfC int64 // of 10,000 MB, of which 500 are reserved
		named   bool
	}{{0, true}, {9000, true}, {9450, true}, {9495, false}, {9999, false}} {
		s := cluster(t, "0.6.38", "5.0.7")
		setDisks(s.Table, 0, 0, test.usedOfC)
		d, _ := plan(t, s, Isolate, Args{Project: oid(20).Hex(), Shard: "b"})
		named := false
		for i, m := range d.Effect.Moves {
			named = named || slices.Contains(m.Or, "c")
			expect.That(t, !slices.Contains(m.Or, m.To) && !slices.Contains(m.Or, "b"),
				"move %d goes to %s or %v", i, m.To, m.Or)
		}
		expect.That(t, len(d.Effect.Moves) != 0 && named == test.named && slices.Contains(d.Limits.Shards, "c"),
			"%d MB used: c is named: %v of %d moves, %v", test.usedOfC, named, len(d.Effect.Moves), d.Limits.Shards)
	}
}
