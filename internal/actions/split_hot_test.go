package actions

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// rows are numbers of writes, by the id in their key.
type rows map[byte]int64

// withWrites gives every chunk of a collection its part of the writes in a quarter of an
// hour, by keys of one field: an id, or the hash of one.
func withWrites(t testing.TB, ns topology.Namespace, value func(byte) any, all rows,
	change ...func(*topology.RangeWrites)) func(*Situation) {
	if value == nil {
		value = func(n byte) any { return oid(n) }
	}
	return func(s *Situation) {
		c := collectionIn(s, ns)
		var keys []topology.KeyWrites
		for n, many := range all {
			keys = append(keys, topology.KeyWrites{Key: keyOf(t, c.Key, value(n)), Rows: many})
		}
		s.Writes.At = now
		for _, ch := range c.Chunks.All() {
			s.Writes.Ranges = append(s.Writes.Ranges, rangeWrites(ns, ch.Min, ch.Max, keys, change...))
		}
	}
}

func rangeWrites(ns topology.Namespace, lo, hi shardkey.Key, keys []topology.KeyWrites,
	change ...func(*topology.RangeWrites)) topology.RangeWrites {
	w := topology.RangeWrites{NS: ns, Min: lo, Max: hi, Method: topology.WritesCounted,
		From: now.Add(-15 * time.Minute), To: now, InShards: true}
	for _, k := range keys {
		if (shardkey.Range{Min: lo, Max: hi}).Contains(k.Key) {
			w.Keys, w.Rows = append(w.Keys, k), w.Rows+k.Rows
		}
	}
	slices.SortFunc(w.Keys, func(a, b topology.KeyWrites) int { return a.Key.Compare(b.Key) })
	w.PerSecond = float64(w.Rows) / 10 // as if of ten seconds: figures that are easy to read
	for _, f := range change {
		f(&w)
	}
	return w
}

// withShardWrites sets the rows a second that the shards a, b and c receive.
func withShardWrites(perSecond ...float64) func(*Situation) {
	return func(s *Situation) {
		s.Writes.Shards = map[string]float64{}
		for i, rate := range perSecond {
			s.Writes.Shards[s.Table.Shards[i].Name] = rate
		}
	}
}

// cutAt returns the key of a cut as the number of a project.
func cutAt(t testing.TB, cut Cut) byte {
	t.Helper()
	return cut.At.Lookup("project_id").ObjectID()[11]
}

func TestHotSplitUsesMedianAndMovesBetterHalf(t *testing.T) {
	one := ofChunk(t, 1, "") // [20, 40) on b
	both := func(s Situation) Args {
		return Args{NS: documents, Chunks: []string{encoded(chunkAt(t, s, documents, 0)[0]), encoded(chunkAt(t, s, documents, 1)[0])}}
	}
	zoned := zone(t, "eu", "ab", documents, from(t, 20), from(t, 40))
	for _, x := range []struct {
		name   string
		change []func(*Situation)
		args   func(Situation) Args
		want   string // cuts in their order
	}{
		{"even writes", []func(*Situation){withWrites(t, documents, nil, rows{21: 25, 25: 25, 30: 25, 35: 25}), withShardWrites(0, 10, 5)}, one,
			"30 upper a"},
		{"what is written most below is left below",
			[]func(*Situation){withWrites(t, documents, nil, rows{21: 60, 22: 5, 30: 20, 35: 20}), withShardWrites(0, 20, 5)}, one, "22 lower a"},
		{"the half that evens out more moves",
			[]func(*Situation){withWrites(t, documents, nil, rows{21: 60, 22: 5, 30: 20, 35: 20}), withShardWrites(0, 10, 5)}, one, "22 upper a"},
		{"few documents and many writes",
			[]func(*Situation){withWrites(t, documents, nil, rows{21: 1, 22: 1, 23: 1, 38: 50, 39: 50}), withShardWrites(0, 10,
				5)}, one, "39 upper a"},
		{"to the shard with the fewest writes", []func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}),
			withShardWrites(4, 10, 1)}, one,
			"30 upper c"},
		{"to the named shard", []func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(4, 10, 1)},
			func(s Situation) Args { a := one(s); a.To = "a"; return a }, "30 upper a"},
		{"at the given key", []func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 20, 35: 30}), withShardWrites(4, 10, 1)},
			func(s Situation) Args { a := one(s); a.At = doc(project(35)); return a }, "35 upper c"},
		{"the zone decides", []func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(4, 10,
			1), zoned}, one, "30 upper a"},
		{"a draining shard takes none",
			[]func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(4, 10, 1), draining("c")}, one, "30 upper a"},
		{"a full shard takes none", []func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(4, 10, 1),
			func(s *Situation) { setDisks(s.Table, 1000, 1000, 9995) }}, one, "30 upper a"},
		{"a shard with the same ids takes none",
			[]func(*Situation){withWrites(t, documents, nil, rows{21: 50, 30: 50}), withShardWrites(4, 10, 1), func(s *Situation) {
				s.Shared = []placement.SharedID{{IDPlace: placement.IDPlace{NS: documents, ID: oid(99)},
					Rows: []placement.SharedRow{{Shard: "b", Project: oid(32)}, {Shard: "c", Project: oid(70)}}}}
			}}, one, "30 upper a"},
		{"a shard with a pending clean-up is not chosen", []func(*Situation){withWrites(t, documents, nil, rows{21: 50,
			30: 50}), withShardWrites(4, 10, 1),
			func(s *Situation) { s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "c"}} }}, one, "30 upper a"},
		{"several chunks, the hottest first and each where it evens out most", []func(*Situation){
			withWrites(t, documents, nil, rows{10: 20, 11: 20, 21: 50, 30: 50}), withShardWrites(12, 12, 1)}, both, "30 upper c, 11 upper c"},
		{"several chunks of one shard go to different ones", []func(*Situation){withOwners(t, documents, "bbc"),
			withWrites(t, documents, nil, rows{10: 50, 11: 50, 21: 50, 30: 50}), withShardWrites(1, 20, 2)}, both, "11 upper a, 30 upper c"},
		{"a chunk that is not divided is left out",
			[]func(*Situation){withWrites(t, documents, nil, rows{10: 2, 21: 50, 30: 50}), withShardWrites(8, 12, 1)}, both, "30 upper c"},
		{"writes that are not in what shards take are added", []func(*Situation){
			withWrites(t, documents, nil, rows{21: 50, 30: 50},
				func(w *topology.RangeWrites) { w.InShards, w.Method = false, topology.WritesChanged }), withShardWrites(4, 1, 0)}, one, "30 upper c"},
	} {
		t.Run(x.name, func(t *testing.T) {
			s := cluster(t, "0.6.38", "5.0.7", x.change...)
			d, resolved := plan(t, s, SplitHot, x.args(s))
			var got []string
			for _, cut := range resolved.Cuts {
				got = append(got, fmt.Sprintf("%d %s %s", cutAt(t, cut), cut.Half, cut.To))
			}
			expect.That(t, strings.Join(got, ", ") == x.want, "cuts %v, want %s\n%+v", got, x.want, d.Checks)
			expect.That(t, !d.Blocked(), "blocked: %+v", d.Checks)
			expect.That(t, len(d.Needs.Writes) != 0, "it does not say of which ranges it needs the writes")
		})
	}
}

func TestHotSplitThatCannotHelpIsRefusedWithRemedy(t *testing.T) {
	one := ofChunk(t, 1, "")
	busy := rows{21: 50, 30: 50}
	reason := func(code string) func(*topology.RangeWrites) {
		return func(w *topology.RangeWrites) {
			*w = topology.RangeWrites{NS: w.NS, Min: w.Min, Max: w.Max, Reason: code}
		}
	}
	whose := func(w *topology.RangeWrites) {
		for i := range w.Keys {
			w.Keys[i].Project = oid(20)
		}
	}
	runChecks(t, "0.6.38", []checkCase{
		caseOf("one value takes most", SplitHot, one, Block, "writes.oneValue",
			withWrites(t, documents, nil, rows{21: 83, 30: 17}), withShardWrites(0, 10, 5)),
		caseOf("one project takes most", SplitHot, one, Block, "writes.oneProject",
			withWrites(t, documents, nil, rows{21: 83, 30: 17}, whose), withShardWrites(0, 10, 5)),
		caseOf("one document takes all", SplitHot, one, Block, "writes.oneDocument",
			withWrites(t, documents, nil, rows{21: 83}, whose, func(w *topology.RangeWrites) {
				for i := range w.Keys {
					w.Keys[i].Document = oid(99)
				}
			}), withShardWrites(0, 10, 5)),
		caseOf("too few writes", SplitHot, one, Block, "writes.few",
			withWrites(t, documents, nil, rows{21: 10, 30: 9}), withShardWrites(0, 10, 5)),
		caseOf("no writes", SplitHot, one, Block, "writes.few", withWrites(t, documents, nil, nil), withShardWrites(0, 10, 5)),
		caseOf("nothing is known", SplitHot, one, Block, "writes.unknown"),
		caseOf("may not be read", SplitHot, one, Block, "writes.unknown",
			withWrites(t, documents, nil, busy, reason("notPermitted")), withShardWrites(0, 10, 5)),
		caseOf("changed in place without a date", SplitHot, one, Block, "writes.unknown",
			withWrites(t, documents, nil, busy, reason("inPlace")), withShardWrites(0, 10, 5)),
		caseOf("keys grow with time", SplitHot, one, Block, "writes.growing",
			withWrites(t, documents, nil, busy, func(w *topology.RangeWrites) { w.Growing = true }), withShardWrites(0, 10, 5)),
		caseOf("the writes of the shards are not known", SplitHot, one, Block, "even.unknown", withWrites(t, documents, nil, busy)),
		caseOf("all other shards have as many writes", SplitHot, one, Block, "even.already",
			withWrites(t, documents, nil, busy), withShardWrites(10, 10, 10)),
		caseOf("no other shard may have it", SplitHot, one, Block, "even.nowhere",
			withWrites(t, documents, nil, busy), withShardWrites(1, 10, 1), zone(t, "eu", "b", documents, from(t, 20), from(t, 40))),
		caseOf("the only shard that helps has a pending clean-up", SplitHot, one, Block, "even.waits",
			withWrites(t, documents, nil, busy), withShardWrites(10, 10, 1),
			func(s *Situation) { s.Activity.Cleanups = []operation.Cleanup{{NS: documents, Shard: "c"}} }),
		caseOf("to where it is", SplitHot, func(s Situation) Args { a := one(s); a.To = "b"; return a }, Block, "recipient.same",
			withWrites(t, documents, nil, busy), withShardWrites(1, 10, 1)),
		caseOf("to a shard outside of its zone", SplitHot, func(s Situation) Args { a := one(s); a.To = "c"; return a }, Block,
			"recipient.outside",
			withWrites(t, documents, nil, busy), withShardWrites(1, 10, 1), zone(t, "eu", "b", documents, from(t, 20), from(t, 40))),
		caseOf("jumbo", SplitHot, one, Block, "jumbo.flagged",
			withOwners(t, documents, "aBc"), withWrites(t, documents, nil, busy), withShardWrites(1, 10, 1)),
		caseOf("one value by its bounds", SplitHot, one, Block, "unsplittable.oneValue", func(s *Situation) {
			c := collectionIn(s, documents)
			*c = *collection(t, documents, c.Key, []shardkey.Key{keyOf(t, c.Key, oid(20)), keyOf(t, c.Key, oid(21))}, "abc")
		}, withWrites(t, documents, nil, rows{20: 100}), withShardWrites(1, 10, 1)),
	})
}

func TestInvalidHotSplitArgumentsAreRefusedByName(t *testing.T) {
	s := cluster(t, "0.6.38", "5.0.7")
	whole := chunkAt(t, s, documents, 1)
	ref := encoded(whole[0])
	ok := Cut{Min: whole[0], Max: whole[1], At: doc(project(30)), Half: HalfUpper, To: "c"}
	with := func(f func(*Cut)) Args { cut := ok; f(&cut); return Args{NS: documents, Cuts: []Cut{cut}} }
	for _, x := range []struct {
		name string
		args Args
		want fault.Kind
		says string
	}{
		{"no chunk", Args{NS: documents}, fault.Invalid, `"chunk"`},
		{"no collection", Args{Bounds: whole}, fault.Invalid, `"ns"`},
		{"one and several", Args{NS: documents, Chunk: ref, Chunks: []string{ref}}, fault.Invalid, `"chunks"`},
		{"the same twice", Args{NS: documents, Chunks: []string{ref, ref}}, fault.Invalid, "twice"},
		{"too many", Args{NS: documents, Chunks: slices.Repeat([]string{ref}, 17)}, fault.Invalid, "16"},
		{"no reference", Args{NS: documents, Chunks: []string{"?"}}, fault.Invalid, "number 1"},
		{"an unknown chunk", Args{NS: documents, Chunks: []string{ref, encoded(doc(project(33)))}}, fault.NotFound, "number 2"},
		{"at and several", Args{NS: documents, Chunks: []string{ref, encoded(chunkAt(t, s, documents, 0)[0])}, At: doc(project(30))},
			fault.Invalid, `"at"`},
		{"at the lower bound", Args{NS: documents, Bounds: whole, At: whole[0]}, fault.Invalid, `"at"`},
		{"at outside", Args{NS: documents, Bounds: whole, At: doc(project(50))}, fault.Invalid, `"at"`},
		{"at of another type", Args{NS: documents, Bounds: whole, At: doc(bson.D{{Key: "project_id", Value: "x"}})}, fault.Invalid, `"at"`},
		{"unknown shard", Args{NS: documents, Bounds: whole, To: "z"}, fault.NotFound, `"to"`},
		{"foreign argument", Args{NS: documents, Bounds: whole, Parts: 2}, fault.Invalid, `"parts"`},
		{"cuts and chunk", Args{NS: documents, Chunk: ref, Cuts: []Cut{ok}}, fault.Invalid, `"chunk"`},
		{"cut without a key", with(func(c *Cut) { c.At = nil }), fault.Invalid, `"at"`},
		{"cut outside of its chunk", with(func(c *Cut) { c.At = doc(project(50)) }), fault.Invalid, `"at"`},
		{"cut of no half", with(func(c *Cut) { c.Half = "left" }), fault.Invalid, `"half"`},
		{"cut to nowhere", with(func(c *Cut) { c.To = "" }), fault.Invalid, `"to"`},
		{"cut without bounds", with(func(c *Cut) { c.Max = nil }), fault.Invalid, `"bounds"`},
		{"cuts that overlap", Args{NS: documents, Cuts: []Cut{ok, ok}}, fault.Invalid, "overlaps"},
		{"too many cuts", Args{NS: documents, Cuts: slices.Repeat([]Cut{ok}, 17)}, fault.Invalid, "16"},
	} {
		t.Run(x.name, func(t *testing.T) {
			_, _, err := PlanChange(s, SplitHot, x.args)
			expect.That(t, fault.Of(err) == x.want && err != nil && strings.Contains(fault.Text(err), x.says),
				"%v (%s), want %s with %s", err, fault.Of(err), x.want, x.says)
		})
	}
}

// A half that is too large for one move goes in pieces, and in more of them where one is too large. Planning again from
// its cuts gives the same.
func TestAHalfThatIsTooLargeMovesInPieces(t *testing.T) {
	hash := func(n byte) any { return int64(n) << 48 }
	s := cluster(t, "0.6.38", "5.0.7", withSmallChunks, withWrites(t, changes, hash, rows{1: 25, 2: 25, 3: 25, 4: 25}),
		withShardWrites(1, 10, 5))
	args := Args{NS: changes, Bounds: chunkAt(t, s, changes, 1)}
	s.Measured.Ranges = map[Span]topology.RangeSize{}
	rounds := []int64{5000, 2500, 1250} // the half, its halves, their halves: at most about 2,000 move at once
	var d Draft
	var resolved Args
	for _, n := range append(rounds, 0) {
		d, resolved = plan(t, s, SplitHot, args)
		for _, p := range d.Needs.Sizes {
			if _, had := s.Measured.Ranges[p]; !had {
				s.Measured.Ranges[p] = topology.RangeSize{Documents: n, Bytes: n * 1048, Mean: 1048, Exact: true, At: now}
			}
		}
	}
	must.That(t, !d.Blocked() && resolved.Cuts[0].Pieces == 4 && len(d.Effect.Moves) == 4,
		"%d pieces, %d moves: %+v", resolved.Cuts[0].Pieces, len(d.Effect.Moves), d.Checks)
	again, _ := plan(t, s, SplitHot, resolved)
	expect.That(t, len(again.Steps) == len(d.Steps) && strings.HasSuffix(again.Summary.String(), " in 4 pieces."),
		"%d steps, then %d: %s", len(d.Steps), len(again.Steps), again.Summary)
}

// randomWrites draws where rows were written and the writes of the shards.
func randomWrites(t testing.TB, r *rapid.T, s *Situation) {
	for _, c := range s.Table.Collections {
		var keys []topology.KeyWrites
		seen := map[string]bool{}
		for range rapid.IntRange(0, 12).Draw(r, "written keys") {
			if k := randomKey(t, r, c.Key); !seen[k.Encoded()] {
				seen[k.Encoded()] = true
				keys = append(keys, topology.KeyWrites{Key: k, Rows: rapid.Int64Range(1, 60).Draw(r, "rows")})
			}
		}
		counted := rapid.Bool().Draw(r, "counted")
		for _, ch := range c.Chunks.All() {
			s.Writes.Ranges = append(s.Writes.Ranges,
				rangeWrites(c.NS, ch.Min, ch.Max, keys, func(w *topology.RangeWrites) { w.InShards = counted }))
		}
	}
	s.Writes.At = now
	if rapid.IntRange(0, 4).Draw(r, "rates") > 0 {
		rate := func(name string) float64 { return float64(rapid.IntRange(0, 60).Draw(r, name)) }
		withShardWrites(rate("a"), rate("b"), rate("c"))(s)
	}
}

// For any writes, a split key is a written key strictly inside its chunk, with writes on
// both sides, and never leaves only the most written value; and the chosen move makes the
// writes more even.
func TestHotSplitKeyHasWritesOnBothSides(t *testing.T) {
	found := 0
	rapid.Check(t, func(r *rapid.T) {
		s := randomCluster(t, r)
		c := rapid.SampledFrom(s.Table.Collections).Draw(r, "hot")
		i := rapid.IntRange(0, c.Chunks.Len()-1).Draw(r, "which")
		d, resolved, err := PlanChange(s, SplitHot, Args{NS: c.NS, Bounds: chunkAt(t, s, c.NS, i)})
		if err != nil {
			must.That(r, fault.Of(err) == fault.Invalid, "%v", err)
			return
		}
		checkTexts(r, d)
		if len(resolved.Cuts) == 0 {
			must.That(r, d.Blocked(), "nothing was chosen, and nothing blocks: %+v", d.Checks)
			return
		}
		found++
		at := must.Get(c.Key.Bound(resolved.Cuts[0].At))
		ch := c.Chunks.At(i)
		below, above, top := int64(0), int64(0), int64(0)
		for _, k := range s.Writes.of(c.NS, ch.Min, ch.Max).Keys {
			if top = max(top, k.Rows); k.Key.Compare(at) < 0 {
				below += k.Rows
			} else {
				above += k.Rows
			}
		}
		must.That(r, below != 0 && above != 0 && at.Compare(ch.Min) > 0 && at.Compare(ch.Max) < 0,
			"%d rows below and %d above %s", below, above, c.Key.Display(at))
		if off := max(below-above, above-below); off > top {
			r.Fatalf("%d and %d rows: off by more than the heaviest value's %d", below, above, top)
		}
		var before, after float64
		for _, w := range d.Effect.Writes {
			before, after = before+w.Before*w.Before, after+w.After*w.After
		}
		must.That(r, after < before, "not more even: %+v", d.Effect.Writes)
	})
	expect.That(t, found != 0 || testing.Short(), "nothing was found: nothing is tested")
}

// Planned again from its choices, on a cluster where part of it is done, a plan has the
// rest; when all is done, nothing.
func TestHotSplitPlannedAgainPlansTheRest(t *testing.T) {
	ran := 0
	rapid.Check(t, func(r *rapid.T) {
		s := randomCluster(t, r)
		c := rapid.SampledFrom(s.Table.Collections).Draw(r, "hot")
		var refs []string
		for i := range min(4, c.Chunks.Len()) {
			refs = append(refs, encoded(chunkAt(t, s, c.NS, i)[0]))
		}
		d, resolved, err := PlanChange(s, SplitHot, Args{NS: c.NS, Chunks: refs})
		if err != nil || d.Blocked() {
			return
		}
		ran++
		whole := modelOf(t, s)
		must.Do(r, whole.run(d.Steps, d.Effect))
		done := rapid.IntRange(0, len(d.Steps)).Draw(r, "done")
		part := modelOf(t, s)
		must.Do(r, part.run(d.Steps[:done], d.Effect))
		rest, again, err := PlanChange(part.now(), SplitHot, resolved)
		must.Do(r, err)
		must.That(r, fmt.Sprint(again) == fmt.Sprint(resolved), "it chose anew: %v, then %v", resolved, again)
		must.That(r, len(rest.Steps) == len(d.Steps)-done,
			"after %d of %d steps there are %d", done, len(d.Steps), len(rest.Steps))
		must.Do(r, part.run(rest.Steps, rest.Effect))
		must.That(r, part.picture() == whole.picture(),
			"in two parts:\n%s\nat once:\n%s", part.picture(), whole.picture())
	})
	expect.That(t, ran != 0 || testing.Short(), "nothing ran: nothing is tested")
}
