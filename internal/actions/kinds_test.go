package actions

import (
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

const (
	documents = topology.Namespace(db + ".documents")
	clients   = topology.Namespace(db + ".clients")
	changes   = topology.Namespace(db + ".changes")
)

func project(n byte) bson.D { return bson.D{{Key: "project_id", Value: oid(n)}} }

func yes(b bool) *bool { return &b }

func TestStepsOfEachKindByRelease(t *testing.T) {
	at := func(d any) bson.Raw { return doc(t, d) }
	for _, x := range []struct {
		name    string
		layout  string
		version string
		kind    Kind
		args    func(s Situation) Args
		change  []func(*Situation)
		want    string // ops
		blocked bool
	}{
		{name: "split at a key", kind: Split, args: func(Situation) Args { return Args{NS: documents, At: at(project(30))} }, want: "splitAt"},
		{name: "split at the median", kind: Split,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)} }, want: "splitMedian"},
		{name: "split hashes into four", kind: Split,
			args: func(s Situation) Args { return Args{NS: changes, Bounds: chunkAt(t, s, changes, 1), Parts: 4} }, want: "splitAt splitAt splitAt"},
		{name: "split ranges of unknown ids into four", layout: "0.4", kind: Split,
			args: func(s Situation) Args { return Args{NS: changes, Bounds: chunkAt(t, s, changes, 1), Parts: 4} }, blocked: true},
		{name: "split projects into more parts than there are", kind: Split,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), Parts: 3} }, blocked: true},
		{name: "split a lone project", kind: Split,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 2)} }, want: "splitMedian", blocked: true},
		{name: "move before 6.0", kind: MoveChunk,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c"} }, want: "move"},
		{name: "move from 6.0 on", version: "7.0.2", kind: MoveChunk,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c"} }, want: "moveRange"},
		{name: "move a part before 6.0", version: "4.4.9", kind: MoveChunk, args: func(s Situation) Args {
			return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c", Min: at(project(25)), Max: at(project(35))}
		}, want: "splitAt splitAt move"},
		{name: "move a part from 6.0 on", version: "8.0.4", kind: MoveChunk, args: func(s Situation) Args {
			return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c", Min: at(project(25))}
		}, want: "moveRange"},
		{name: "move to where it is", kind: MoveChunk,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "b"} }, blocked: true},
		{name: "split where the writes are before 6.0",
			change: []func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(0, 10, 5)}, kind: SplitHot,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)} }, want: "splitAt move"},
		{name: "split where the writes are from 6.0 on", version: "8.0.4",
			change: []func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(0, 10, 5)}, kind: SplitHot,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)} }, want: "splitAt moveRange"},
		{name: "split two hot chunks",
			change: []func(*Situation){withOwners(t, documents, "bbc"), withWrites(t, documents, nil, rows{10: 50, 11: 50, 21: 50, 30: 50}),
				withShardWrites(1, 20, 2)}, kind: SplitHot,
			args: func(s Situation) Args {
				return Args{NS: documents, Chunks: []string{encoded(chunkAt(t, s, documents, 0)[0]), encoded(chunkAt(t, s, documents, 1)[0])}}
			}, want: "splitAt splitAt move move"},
		{name: "merge", change: []func(*Situation){withOwners(t, documents, "bbc")}, kind: Merge, args: func(s Situation) Args {
			return Args{NS: documents, Bounds: [2]bson.Raw{chunkAt(t, s, documents, 0)[0], chunkAt(t, s, documents, 1)[1]}}
		}, want: "merge"},
		{name: "merge by min and max", change: []func(*Situation){withOwners(t, documents, "bbc")}, kind: Merge, args: func(s Situation) Args {
			return Args{NS: documents, Min: chunkAt(t, s, documents, 0)[0], Max: chunkAt(t, s, documents, 1)[1]}
		}, want: "merge"},
		{name: "merge over two shards", kind: Merge, args: func(s Situation) Args {
			return Args{NS: documents, Bounds: [2]bson.Raw{chunkAt(t, s, documents, 0)[0], chunkAt(t, s, documents, 1)[1]}}
		}, blocked: true},
		{name: "split a project's chunks", kind: SplitProject, args: func(Situation) Args { return Args{Project: "gamma"} },
			want: "splitAt splitAt splitAt"},
		{name: "split a project's documents", kind: SplitProject,
			args: func(Situation) Args { return Args{Project: "gamma", NS: documents} }, want: "splitAt splitAt"},
		{name: "split a project whose key goes on", kind: SplitProject,
			args: func(Situation) Args { return Args{Project: "beta", NS: clients} }, want: "splitAt splitAt"},
		{name: "pin by moves", kind: Pin, args: func(Situation) Args { return Args{Project: "beta", Shard: "c"} },
			want: "splitAt splitAt splitAt addShardToZone setZoneRange setZoneRange move move move"},
		{name: "pin by moves in 0.4", layout: "0.4", kind: Pin, args: func(Situation) Args { return Args{Project: "pk-beta", To: "c"} },
			want: "splitAt splitAt addShardToZone setZoneRange setZoneRange move move"},
		{name: "pin by the balancer", change: []func(*Situation){balancing}, kind: Pin,
			args: func(Situation) Args { return Args{Project: "beta", Shard: "c", Mode: "balancer"} },
			want: "addShardToZone setZoneRange setZoneRange await await"},
		{name: "pin by a balancer that is off", kind: Pin,
			args: func(Situation) Args { return Args{Project: "beta", Shard: "c", Mode: "balancer"} },
			want: "addShardToZone setZoneRange setZoneRange await await", blocked: true},
		{name: "isolate", kind: Isolate, args: func(Situation) Args { return Args{Project: "delta", Shard: "c"} },
			want: "splitAt splitAt splitAt addShardToZone setZoneRange setZoneRange addShardToZone addShardToZone " +
				"setZoneRange setZoneRange setZoneRange setZoneRange move move move"},
		{name: "spread", kind: Spread, args: func(Situation) Args { return Args{Project: "beta"} },
			want: "splitAt splitAt splitAt splitAt move move"},
		{name: "spread where nothing is hashed", layout: "0.4", kind: Spread,
			args: func(Situation) Args { return Args{Project: "beta"} }, blocked: true},
		{name: "unpin a project that is not pinned", kind: Unpin, args: func(Situation) Args { return Args{Project: "beta"} }, blocked: true},
		{name: "unpin", kind: Unpin,
			change: []func(*Situation){zone(t, placement.PinZone(oid(20).Hex()), "b", documents, from(t, 20), from(t, 21))},
			args:   func(Situation) Args { return Args{Project: "beta"} }, want: "removeZoneRange removeShardFromZone"},
		{name: "unpin a project that no longer exists", kind: Unpin,
			change: []func(*Situation){zone(t, placement.PinZone(oid(77).Hex()), "b", documents, from(t, 77), from(t, 78))},
			args:   func(Situation) Args { return Args{Project: oid(77).Hex()} }, want: "removeZoneRange removeShardFromZone"},
		{name: "add a shard to a zone", kind: ZoneAddShard, args: func(Situation) Args { return Args{Shard: "a", Zone: "eu"} },
			want: "addShardToZone"},
		{name: "add a shard that is already in the zone", change: []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))},
			kind: ZoneAddShard,
			args: func(Situation) Args { return Args{Shard: "a", Zone: "eu"} }, blocked: true},
		{name: "remove the last shard of a zone with ranges",
			change: []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))}, kind: ZoneRemoveShard,
			args: func(Situation) Args { return Args{Shard: "a", Zone: "eu"} }, want: "removeShardFromZone", blocked: true},
		{name: "remove one of two", change: []func(*Situation){zone(t, "eu", "ab", documents, from(t, 20), from(t, 30))}, kind: ZoneRemoveShard,
			args: func(Situation) Args { return Args{Shard: "a", Zone: "eu"} }, want: "removeShardFromZone"},
		{name: "set a range", change: []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))}, kind: ZoneSetRange,
			args: func(Situation) Args {
				return Args{NS: documents, Zone: "eu", Min: at(project(30)), Max: at(project(35))}
			}, want: "setZoneRange"},
		{name: "change a range", change: []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))}, kind: ZoneSetRange,
			args: func(Situation) Args {
				return Args{NS: documents, Zone: "eu", Min: at(project(20)), Max: at(project(35))}
			}, want: "removeZoneRange setZoneRange"},
		{name: "overlap a range",
			change: []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30)),
				zone(t, "us", "b", documents, from(t, 30), from(t, 35))}, kind: ZoneSetRange,
			args: func(Situation) Args {
				return Args{NS: documents, Zone: "us", Min: at(project(10)), Max: at(project(50))}
			}, blocked: true},
		{name: "a range for a zone without shard", kind: ZoneSetRange,
			args: func(Situation) Args {
				return Args{NS: documents, Zone: "eu", Min: at(project(10)), Max: at(project(50))}
			}, want: "setZoneRange", blocked: true},
		{name: "a range of leading fields", change: []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))},
			kind: ZoneSetRange,
			args: func(Situation) Args { return Args{NS: clients, Zone: "eu", Min: at(project(30)), Max: at(project(35))} }, want: "setZoneRange"},
		{name: "remove a range", change: []func(*Situation){zone(t, "eu", "a", documents, from(t, 20), from(t, 30))}, kind: ZoneRemoveRange,
			args: func(Situation) Args { return Args{NS: documents, Min: at(project(20)), Max: at(project(30))} }, want: "removeZoneRange"},
		{name: "balancer on", kind: BalancerOn, args: func(Situation) Args { return Args{} }, want: "startBalancer"},
		{name: "balancer already on", change: []func(*Situation){balancing}, kind: BalancerOn,
			args: func(Situation) Args { return Args{} }, blocked: true},
		{name: "balancer off", change: []func(*Situation){balancing}, kind: BalancerOff, args: func(Situation) Args { return Args{} },
			want: "stopBalancer"},
		{name: "balancer window", kind: BalancerWindow, args: func(Situation) Args { return Args{Start: "22:00", Stop: "04:30"} },
			want: "setBalancerWindow"},
		{name: "no window, unchanged", kind: BalancerWindow, args: func(Situation) Args { return Args{} }, blocked: true},
		{name: "collection off", kind: BalanceCollection, args: func(Situation) Args { return Args{NS: documents, On: yes(false)} },
			want: "setBalancing"},
		{name: "collection already on", kind: BalanceCollection,
			args: func(Situation) Args { return Args{NS: documents, On: yes(true)} }, blocked: true},
		{name: "clear jumbo", change: []func(*Situation){withOwners(t, documents, "aBc")}, kind: ClearJumbo,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)} }, want: "clearJumbo"},
		{name: "clear a flag that is not set", kind: ClearJumbo,
			args: func(s Situation) Args { return Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)} }, blocked: true},
	} {
		t.Run(x.name, func(t *testing.T) {
			if x.layout == "" {
				x.layout = "0.6.38"
			}
			if x.version == "" {
				x.version = "5.0.7"
			}
			s := cluster(t, x.layout, x.version, x.change...)
			d, _ := plan(t, s, x.kind, x.args(s))
			var got []string
			for _, op := range ops(d) {
				got = append(got, string(op))
			}
			if strings.Join(got, " ") != x.want {
				t.Errorf("steps %v, want %s", got, x.want)
			}
			if d.Blocked() != x.blocked {
				t.Errorf("blocked: %t\n%+v", d.Blocked(), d.Checks)
			}
			if d.Summary.Code == "" || d.Role == "" || d.Risk == "" {
				t.Errorf("incomplete: %+v", d)
			}
			for _, step := range d.Steps {
				if len(step.Proof) == 0 || len(step.Needs) == 0 {
					t.Errorf("%s has %d needs and %d proofs", step.Op, len(step.Needs), len(step.Proof))
				}
			}
		})
	}
}

func TestPlansWithoutUndoNeedTypedConfirmation(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7", withOwners(t, documents, "aBc"))
	unknown := s
	table := *s.Table
	table.Balancer.Known = false
	unknown.Table = &table
	for kind, x := range map[Kind]struct {
		s Situation
		a Args
	}{
		ClearJumbo:     {s, Args{NS: documents, Bounds: chunkAt(t, s, documents, 1)}},
		RefineKey:      {s, Args{NS: documents, Key: refined}},
		BalancerWindow: {unknown, Args{Start: "01:00", Stop: "05:00"}},
	} {
		if d, _ := plan(t, x.s, kind, x.a); d.Undo.Possible || d.Confirm == "" || d.Risk != High {
			t.Errorf("%s: undo %v, confirm %q, risk %s", kind, d.Undo.Possible, d.Confirm, d.Risk)
		}
	}
}

func TestEveryKindHasAPlanner(t *testing.T) {
	all := Planners()
	if len(all) != len(Kinds()) {
		t.Errorf("%d planners of %d kinds", len(all), len(Kinds()))
	}
	for _, k := range Kinds() {
		if all[k] == nil {
			t.Errorf("nothing plans %s", k)
		}
	}
}

func TestChunkIsFoundByFullOrShortReference(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	whole := chunkAt(t, s, documents, 1)
	id := UUIDText(s.Table.Collection(documents).Incarnation.UUID)
	for _, ref := range []string{encoded(whole[0]), id + "." + encoded(whole[0])} {
		d, a := plan(t, s, MoveChunk, Args{NS: documents, Chunk: ref, To: "c"})
		if len(d.Steps) != 1 || a.Chunk != "" || string(a.Bounds[0]) != string(whole[0]) || string(a.Bounds[1]) != string(whole[1]) {
			t.Errorf("%s: %+v, %v", ref, a, d.Steps)
		}
	}
}

func TestMovesWaitForCleanupUnlessMany(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	d, _ := plan(t, s, MoveChunk, Args{NS: documents, Bounds: chunkAt(t, s, documents, 1), To: "c"})
	if !d.Steps[0].Wait || !d.Undo.From.IsZero() || !d.Undo.Possible {
		t.Errorf("wait %t, undo %+v", d.Steps[0].Wait, d.Undo)
	}
	s = cluster(t, "0.6.38", "5.0.7", balancing)
	d, _ = plan(t, s, Pin, Args{Project: "beta", Shard: "c", Mode: ModeBalancer})
	if got := d.Undo.From.Sub(now); got < OrphanDelay {
		t.Errorf("the undo of what the balancer moved works %s from now", got)
	}
	many := manyChunksOf(t, 30)
	d, _ = plan(t, many, Pin, Args{Project: "beta", Shard: "c"})
	moved := slices.IndexFunc(d.Steps, func(s Step) bool { return s.Op == OpMove })
	if moved < 0 || d.Steps[moved].Wait || d.Undo.From.Before(now.Add(OrphanDelay)) || d.Risk != High || d.Confirm != "beta" {
		t.Errorf("wait, undo from %s, risk %s, confirm %q", d.Undo.From, d.Risk, d.Confirm)
	}
}

// manyChunksOf makes a cluster in which the clients of beta are n chunks on b.
func manyChunksOf(t *testing.T, n int) Situation {
	s := cluster(t, "0.6.38", "5.0.7")
	c := s.Table.Collection(clients)
	all := []topology.Chunk{}
	at := c.Key.Min()
	for i := range n {
		next := keyOf(t, c.Key, oid(20), int64(i))
		all = append(all, topology.Chunk{Min: at, Max: next, Shard: "b", Version: topology.Version{Major: 1, Minor: uint32(i)}})
		at = next
	}
	all = append(all, topology.Chunk{Min: at, Max: c.Key.Max(), Shard: "b", Version: topology.Version{Major: 2}})
	m, err := topology.BuildChunks(c.Key, all)
	if err != nil {
		t.Fatal(err)
	}
	c.Chunks = m
	return s
}
