package outcome

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const ns = topology.Namespace("app.rows")

var start = time.Date(2026, 3, 1, 10, 30, 20, 0, time.UTC)

// collection has chunks that begin at MinKey and at the given numbers; shards are
// their shards in the same order.
func collection(t interface{ Fatal(...any) }, at []int64, shards ...string) *topology.Collection {
	raw, err := bson.Marshal(bson.D{{Key: "p", Value: 1}})
	if err != nil {
		t.Fatal(err)
	}
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		t.Fatal(err)
	}
	bounds := []shardkey.Key{p.Min()}
	for _, n := range at {
		bounds = append(bounds, key(t, p, n))
	}
	bounds = append(bounds, p.Max())
	var rows []topology.Chunk
	for i := range len(bounds) - 1 {
		rows = append(
			rows,
			topology.Chunk{Min: bounds[i], Max: bounds[i+1], Shard: shards[i], Version: topology.Version{Major: 1, Minor: uint32(i)}},
		)
	}
	m, err := topology.BuildChunks(p, rows)
	if err != nil {
		t.Fatal(err)
	}
	return &topology.Collection{Meta: topology.Meta{NS: ns, Key: p}, Chunks: m}
}

func key(t interface{ Fatal(...any) }, p shardkey.Pattern, n int64) shardkey.Key {
	k, err := p.Bound(keyAt(n))
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func keyAt(n int64) bson.Raw {
	raw, err := bson.Marshal(bson.D{{Key: "p", Value: n}})
	if err != nil {
		panic(err)
	}
	return raw
}

func minKey() bson.Raw {
	raw, _ := bson.Marshal(bson.D{{Key: "p", Value: bson.MinKey{}}})
	return raw
}

func maxKey() bson.Raw {
	raw, _ := bson.Marshal(bson.D{{Key: "p", Value: bson.MaxKey{}}})
	return raw
}

// tenSeconds is a sample of ten seconds in which each chunk got the given number of rows.
func tenSeconds(c *topology.Collection, from time.Time, rows ...int64) sample {
	s := heat.Slot{NS: c.NS, From: from, To: from.Add(heat.Tick), Every: 1, Life: c.Incarnation}
	var all int64
	for i, n := range rows {
		if n > 0 {
			s.Pieces = append(s.Pieces, heat.Piece{Min: c.Chunks.At(i).Min, Rows: n})
		}
		all += n
	}
	s.Counts = []heat.Count{{Rows: all}}
	return sample{slot: s, taken: s.To.Add(3 * time.Second), collection: c}
}

// fullWindow is a window filled with samples of ten seconds.
func fullWindow(w Span, c *topology.Collection, rows ...int64) (out []sample) {
	for from := w.From; from.Before(w.To); from = from.Add(heat.Tick) {
		out = append(out, tenSeconds(c, from, rows...))
	}
	return out
}

func endedRun(kind actions.Kind, op actions.Op, lo, hi bson.Raw, to string) engine.Run {
	s := actions.Step{Op: op, NS: ns, Min: lo, Max: hi, Shard: to}
	if op == actions.OpSplitAt {
		s = actions.Step{Op: op, NS: ns, At: keyAt(5), Needs: []actions.Fact{{Kind: actions.FactChunk, NS: ns, Min: lo, Max: hi}}}
	}
	return engine.Run{ID: "r", Kind: kind, State: engine.Succeeded, Started: start, Ended: start.Add(30 * time.Second),
		Steps: []engine.Step{{Step: s, State: engine.Succeeded, Sent: start.Add(time.Second), Ended: start.Add(20 * time.Second)}}}
}

// recordOf is the record of a run with the given samples.
func recordOf(r engine.Run, before, after []sample) *Record {
	b, a := windows(r.Started, r.Ended)
	spans := scopeOf(r).spans[ns]
	return &Record{Run: r.ID, Closed: true, Collections: []CollectionRecord{{NS: ns,
		Before: countWindow(before, b, spans, r.Started), After: countWindow(after, a, spans, time.Time{})}}}
}

func TestWindowsAreWholeMinutesOfTheSameLengthOutsideTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		started := start.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start")))
		ended := started.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took")))
		b, a := windows(started, ended)
		if b.To.After(started) || started.Sub(b.To) >= windowAlignment || a.From.Before(ended) || a.From.Sub(ended) >= windowAlignment {
			t.Errorf("%v to %v: before %v, after %v", started, ended, b, a)
		}
		if b.Seconds() != Window.Seconds() || a.Seconds() != b.Seconds() {
			t.Errorf("%v and %v", b.Seconds(), a.Seconds())
		}
	})
}

func TestMoveThatSpreadsTheWritesHelped(t *testing.T) {
	r := endedRun(actions.MoveChunk, actions.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(r.Started, r.Ended)
	was := collection(t, []int64{0, 10}, "a", "a", "b")
	is := collection(t, []int64{0, 10}, "a", "b", "b")
	o := Compare(r, recordOf(r, fullWindow(b, was, 30, 20, 10), fullWindow(a, is, 30, 20, 10)))
	if o.State != Measured || o.Verdict != Worse && o.Verdict != NoChange && o.Verdict != Helped {
		t.Fatalf("%+v", o)
	}
	if o.Verdict != Helped || o.Before.Hottest != "a" || math.Abs(o.Before.Share-5./6) > 1e-9 || math.Abs(o.After.Share-.5) > 1e-9 {
		t.Errorf("%s: %+v and %+v", o.Verdict, o.Before, o.After)
	}
	if len(o.Shards) != 2 || o.Shards[0].Shard != "a" || o.Shards[0].Before.PerSecond != 5 || o.Shards[0].After.PerSecond != 3 ||
		!o.Shards[0].Before.Exact {
		t.Errorf("shards %+v", o.Shards)
	}
	if len(o.Chunks) != 1 || o.Chunks[0].From != "a" || o.Chunks[0].To != "b" || o.Chunks[0].Before.PerSecond != 2 ||
		o.Chunks[0].After.PerSecond != 2 {
		t.Errorf("chunks %+v", o.Chunks)
	}
	if len(o.Notes) != 0 || o.Before.Covered != 600 || o.After.Covered != 600 {
		t.Errorf("notes %v, covered %v and %v", o.Notes, o.Before.Covered, o.After.Covered)
	}
}

func TestSplitIsJudgedByTheHottestOfItsChunks(t *testing.T) {
	r := endedRun(actions.Split, actions.OpSplitAt, keyAt(0), keyAt(10), "")
	b, a := windows(r.Started, r.Ended)
	was := collection(t, []int64{0, 10}, "a", "a", "b")
	is := collection(t, []int64{0, 5, 10}, "a", "a", "a", "b")
	o := Compare(r, recordOf(r, fullWindow(b, was, 3, 20, 10), fullWindow(a, is, 3, 11, 9, 10)))
	if o.Basis != ByChunks || o.State != Measured || o.Verdict != Helped || o.Before.Hottest != string(ns) {
		t.Fatalf("%+v", o)
	}
	if len(o.Chunks) != 3 {
		t.Fatalf("chunks %+v", o.Chunks)
	}
	for _, c := range o.Chunks {
		whole := string(c.Min) == string(keyAt(0)) && string(c.Max) == string(keyAt(10))
		if whole != (c.Before != nil) || whole != (c.After == nil) {
			t.Errorf("a chunk that did not exist has a rate: %+v", c)
		}
	}
}

func TestRunThatCannotBeComparedHasAReasonAndNoVerdict(t *testing.T) {
	move := endedRun(actions.MoveChunk, actions.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(move.Started, move.Ended)
	c := collection(t, []int64{0, 10}, "a", "a", "b")
	full := func() *Record { return recordOf(move, fullWindow(b, c, 30, 20, 10), fullWindow(a, c, 10, 10, 10)) }
	with := func(change func(*Record)) *Record { r := full(); change(r); return r }
	open, failed := move, move
	open.State, open.Ended = engine.Running, time.Time{}
	failed.State, failed.Steps = engine.Failed, []engine.Step{{Step: move.Steps[0].Step, State: engine.Failed}}
	off := endedRun(actions.BalancerOff, actions.OpBalancerOff, nil, nil, "")
	for name, x := range map[string]struct {
		run    engine.Run
		kept   *Record
		state  State
		reason string
	}{
		"open":               {open, recordOf(open, fullWindow(b, c, 30, 20, 10), nil), Running, ""},
		"open, nothing kept": {open, nil, Running, ""},
		"failed":             {failed, nil, Unchanged, ""},
		"balancer":           {off, nil, Unchanged, ""},
		"nothing kept":       {move, nil, Uncounted, reasonNoRecord},
		"window not over":    {move, with(func(r *Record) { r.Closed = false; r.Collections[0].After = nil }), TooEarly, ""},
		"not counted": {move, with(func(r *Record) { r.Collections[0] = CollectionRecord{NS: ns, Not: "inPlace"} }),
			Uncounted, "inPlace"},
		"no window before": {move, with(func(r *Record) { r.Collections[0].Before = nil }), Uncounted, reasonGap},
		"a minute after": {move,
			recordOf(move, fullWindow(b, c, 30, 20, 10), fullWindow(Span{a.From, a.From.Add(time.Minute)}, c, 1, 1, 1)), Uncounted, reasonGap},
		"nothing written":        {move, recordOf(move, fullWindow(b, c, 0, 0, 0), fullWindow(a, c, 0, 0, 0)), Idle, ""},
		"nothing written before": {move, recordOf(move, fullWindow(b, c, 0, 0, 0), fullWindow(a, c, 9, 9, 9)), Few, ""},
		"few rows": {move, recordOf(move, append(fullWindow(b, c, 0, 0, 0), tenSeconds(c, b.From, 50, 0, 0)),
			fullWindow(a, c, 9, 9, 9)), Few, ""},
		"another run meanwhile":     {move, with(func(r *Record) { r.OtherRuns = []string{"x"} }), Shared, ""},
		"migrations of others only": {move, with(func(r *Record) { r.OtherMoves = 2 }), Measured, ""},
	} {
		o := Compare(x.run, x.kept)
		if o.State != x.state || o.Reason != x.reason || (o.Verdict != "") != (x.state == Measured) {
			t.Errorf("%s: %s, %q, %q", name, o.State, o.Reason, o.Verdict)
		}
		if o.State == TooEarly && !o.KnownAt.Equal(a.To) {
			t.Errorf("%s: known at %v", name, o.KnownAt)
		}
		if o.State == Uncounted && (o.Before.Total.PerSecond != 0 || len(o.Shards) != 0) {
			t.Errorf("%s: has figures although nothing was counted: %+v", name, o.Shards)
		}
	}
	if o := Compare(move, with(func(r *Record) { r.OtherRuns = []string{"x"} })); len(o.Shards) != 2 || o.Before.Share == 0 {
		t.Errorf("figures are missing: %+v", o)
	}
}

// The last part of the window before a run is counted a few seconds later, when the
// run may already have moved the chunk.
func TestWritesBeforeARunCountForTheShardThatOwnedTheChunkThen(t *testing.T) {
	r := endedRun(actions.MoveChunk, actions.OpMove, keyAt(0), keyAt(10), "b")
	r.Started = start.Truncate(time.Minute)
	r.Ended = r.Started.Add(2 * time.Second)
	b, a := windows(r.Started, r.Ended)
	was := collection(t, []int64{0, 10}, "a", "a", "b")
	is := collection(t, []int64{0, 10}, "a", "b", "b")
	before := fullWindow(b, was, 10, 10, 10)
	last := &before[len(before)-1]
	if !last.taken.After(r.Started) {
		t.Fatal("the last sample was counted in time, so the test tests nothing")
	}
	last.collection = is
	o := Compare(r, recordOf(r, before, fullWindow(a, is, 10, 10, 10)))
	if math.Abs(o.Before.Share-2./3) > 1e-9 || o.Chunks[0].From != "a" {
		t.Errorf("%+v, %+v", o.Before, o.Chunks)
	}
}

func TestRowsChangedInPlaceAreListedButNotAddedToNewRows(t *testing.T) {
	r := endedRun(actions.Pin, actions.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(r.Started, r.Ended)
	c := collection(t, []int64{0, 10}, "a", "a", "b")
	rec := recordOf(r, fullWindow(b, c, 30, 20, 10), fullWindow(a, c, 30, 20, 10))
	changed := rec.Collections[0]
	changed.NS = "app.changed"
	before, after := *changed.Before, *changed.After
	before.Method, before.Capped, after.Method, after.Capped = heat.ChangedRows, true, heat.ChangedRows, true
	changed.Before, changed.After = &before, &after
	rec.Collections = append(rec.Collections, changed)
	o := Compare(r, rec)
	if o.Collections[1].Not != reasonChanged || o.Collections[1].Before == nil || o.Before.Total.PerSecond != 6 || !o.Before.Total.Exact {
		t.Errorf("%+v, total %+v", o.Collections[1], o.Before.Total)
	}
	if !slices.Contains(o.Notes, NoteGathers) || slices.Contains(o.Notes, NoteHottest) {
		t.Errorf("notes %v", o.Notes)
	}
	alone := &Record{Closed: true, Collections: []CollectionRecord{changed}}
	if o := Compare(r, alone); o.State != Measured || !o.Before.Total.AtLeast || !slices.Contains(o.Notes, NoteHottest) {
		t.Errorf("%s %+v %v", o.State, o.Before.Total, o.Notes)
	}
}

// Every row is assigned to a shard or counted as astray, and the parts of a window
// before and after a restart add up to the whole window.
func TestCountsContainEveryRowAcrossARestart(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		shards := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "b", "c"}), 5, 5).Draw(t, "shards")
		c := collection(t, []int64{0, 10, 20, 30}, shards...)
		w := Span{start.Truncate(windowAlignment), start.Truncate(windowAlignment).Add(Window)}
		var all []sample
		var rows, in int64
		for i := range rapid.IntRange(0, 80).Draw(t, "ticks") {
			from := w.From.Add(time.Duration(i-5) * heat.Tick)
			s := tenSeconds(c, from, rapid.SliceOfN(rapid.Int64Range(0, 50), 5, 5).Draw(t, "rows")...)
			s.slot.Every = rapid.SampledFrom([]int64{1, 10}).Draw(t, "every")
			if rapid.Bool().Draw(t, "astray") {
				s.slot.Astray, s.slot.Counts = 7, append(s.slot.Counts, heat.Count{Rows: 7})
			}
			all = append(all, s)
			if w.contains(s.slot) {
				rows, in = rows+s.slot.Rows(), in+1
			}
		}
		whole := countWindow(all, w, []keySpan{{minKey(), maxKey()}}, time.Time{})
		if in == 0 {
			if whole != nil {
				t.Fatal("an uncounted window has counts")
			}
			return
		}
		var placed, chunked int64
		for _, x := range whole.Shards {
			placed += x.Rows
		}
		for _, x := range whole.Chunks {
			chunked += x.Rows
		}
		if placed+whole.Astray.Rows != rows || whole.Total.Rows != rows || chunked != placed ||
			whole.Seconds != float64(in)*heat.Tick.Seconds() ||
			whole.More != 0 {
			t.Fatalf("%d rows; %d placed, %d in chunks, %d astray, %v s", rows, placed, chunked, whole.Astray.Rows, whole.Seconds)
		}
		cut := rapid.IntRange(0, len(all)).Draw(t, "restart")
		spans := []keySpan{{minKey(), maxKey()}}
		parts := countWindow(all[:cut], w, spans, time.Time{}).plus(countWindow(all[cut:], w, spans, time.Time{}))
		if parts.Total != whole.Total || parts.Seconds != whole.Seconds || fmt.Sprint(parts.Shards) != fmt.Sprint(whole.Shards) ||
			fmt.Sprint(parts.Chunks) != fmt.Sprint(whole.Chunks) {
			t.Fatalf("in parts %+v, whole %+v", parts, whole)
		}
	})
}

func TestWideRangeListsItsHottestChunksAndTheNumberOfOthers(t *testing.T) {
	var bounds []int64
	shards := []string{"a"}
	for i := range int64(200) {
		bounds, shards = append(bounds, i), append(shards, "a")
	}
	c := collection(t, bounds, shards...)
	rows := make([]int64, 201)
	for i := range rows {
		rows[i] = int64(i % 150)
	}
	w := Span{start.Truncate(windowAlignment), start.Truncate(windowAlignment).Add(Window)}
	got := countWindow([]sample{tenSeconds(c, w.From, rows...)}, w, []keySpan{{minKey(), maxKey()}, {keyAt(3), keyAt(90)}}, time.Time{})
	if len(got.Chunks) != chunksListed || got.More != 201-chunksListed || got.Chunks[0].Rows != 149 {
		t.Errorf("%d listed, %d more, the hottest has %d", len(got.Chunks), got.More, got.Chunks[0].Rows)
	}
	for i := 1; i < len(got.Chunks); i++ {
		if got.Chunks[i].Rows > got.Chunks[i-1].Rows {
			t.Errorf("chunk %d is hotter than the one before it", i)
		}
	}
}

func TestSampledRatesHaveAnError(t *testing.T) {
	c := collection(t, []int64{0}, "a", "b")
	w := Span{start.Truncate(windowAlignment), start.Truncate(windowAlignment).Add(Window)}
	s := fullWindow(w, c, 10, 0)
	for i := range s {
		s[i].slot.Every = 10
	}
	got := countWindow(s, w, []keySpan{{minKey(), maxKey()}}, time.Time{})
	hot, cold := got.rate(got.Shards["a"]), got.rate(got.Shards["b"])
	if hot.PerSecond != 10 || hot.Exact || hot.PlusMinus <= 0 || cold.PerSecond != 0 || cold.PlusMinus <= 0 {
		t.Errorf("%+v, %+v", hot, cold)
	}
}
