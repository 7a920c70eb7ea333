package outcome

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

func TestMoveThatSpreadsTheWritesHelped(t *testing.T) {
	r := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(r.Started, r.Ended)
	was := collection(t, []int64{0, 10}, "a", "a", "b")
	is := collection(t, []int64{0, 10}, "a", "b", "b")
	o := Compare(r, recordOf(r, fullWindow(b, was, 30, 20, 10), fullWindow(a, is, 30, 20, 10)))
	must.That(t, o.State == Measured && (o.Verdict == Worse || o.Verdict == NoChange || o.Verdict == Helped), "%+v", o)
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
	expect.That(t, len(o.Notes) == 0 && o.Before.Covered == 600 && o.After.Covered == 600,
		"notes %v, covered %v and %v", o.Notes, o.Before.Covered, o.After.Covered)
}

func TestSplitIsJudgedByTheHottestOfItsChunks(t *testing.T) {
	r := endedRun(actions.Split, operation.OpSplitAt, keyAt(0), keyAt(10), "")
	b, a := windows(r.Started, r.Ended)
	was := collection(t, []int64{0, 10}, "a", "a", "b")
	is := collection(t, []int64{0, 5, 10}, "a", "a", "a", "b")
	o := Compare(r, recordOf(r, fullWindow(b, was, 3, 20, 10), fullWindow(a, is, 3, 11, 9, 10)))
	must.That(t, o.Basis == ByChunks && o.State == Measured && o.Verdict == Helped && o.Before.Hottest == string(ns),
		"%+v", o)
	must.That(t, len(o.Chunks) == 3, "chunks %+v", o.Chunks)
	for _, c := range o.Chunks {
		whole := string(c.Min) == string(keyAt(0)) && string(c.Max) == string(keyAt(10))
		expect.That(t, whole == (c.Before != nil) && whole == (c.After == nil),
			"a chunk that did not exist has a rate: %+v", c)
	}
}

func TestRunThatCannotBeComparedHasAReasonAndNoVerdict(t *testing.T) {
	move := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	b, a := windows(move.Started, move.Ended)
	c := collection(t, []int64{0, 10}, "a", "a", "b")
	full := func() *Record { return recordOf(move, fullWindow(b, c, 30, 20, 10), fullWindow(a, c, 10, 10, 10)) }
	with := func(change func(*Record)) *Record { r := full(); change(r); return r }
	open, failed := move, move
	open.State, open.Ended = engine.Running, time.Time{}
	failed.State, failed.Steps = engine.Failed, []engine.Step{{Step: move.Steps[0].Step, State: engine.Failed}}
	off := endedRun(actions.BalancerOff, operation.OpBalancerOff, nil, nil, "")
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
		"another run of other ranges":    {move, with(func(r *Record) { r.OtherRuns = []string{"x"} }), Measured, ""},
		"another run of the same ranges": {move, with(func(r *Record) { r.OtherRuns, r.SameRanges = []string{"x"}, true }), Shared, ""},
		"recorded before the other chunks were": {move, with(func(r *Record) {
			r.OtherRuns, r.Collections[0].Before.Others = []string{"x"}, nil
		}), Shared, ""},
		"no window before, a minute after": {move, with(
			func(r *Record) { r.Closed, r.Collections[0].Before = false, nil }), Uncounted, reasonGap},
		"migrations of others only": {move, with(func(r *Record) { r.OtherMoves = 2 }), Measured, ""},
	} {
		o := Compare(x.run, x.kept)
		expect.That(t, o.State == x.state && o.Reason == x.reason && (o.Verdict != "") == (x.state == Measured),
			"%s: %s, %q, %q", name, o.State, o.Reason, o.Verdict)
		expect.That(t, o.State != TooEarly || o.KnownAt.Equal(a.To), "%s: known at %v", name, o.KnownAt)
		expect.That(t, o.State != Uncounted || o.Before.Total.PerSecond == 0 && len(o.Shards) == 0,
			"%s: has figures although nothing was counted: %+v", name, o.Shards)
	}
	shared := with(func(r *Record) { r.OtherRuns, r.SameRanges = []string{"x"}, true })
	if o := Compare(move, shared); len(o.Shards) != 2 || o.Before.Share == 0 {
		t.Errorf("figures are missing: %+v", o)
	}
}

// The last part of the window before a run is counted a few seconds later, when the
// run may already have moved the chunk.
func TestWritesBeforeARunCountForTheShardThatOwnedTheChunkThen(t *testing.T) {
	r := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	r.Started = start.Truncate(time.Minute)
	r.Ended = r.Started.Add(2 * time.Second)
	b, a := windows(r.Started, r.Ended)
	was := collection(t, []int64{0, 10}, "a", "a", "b")
	is := collection(t, []int64{0, 10}, "a", "b", "b")
	before := fullWindow(b, was, 10, 10, 10)
	last := &before[len(before)-1]
	must.That(t, last.taken.After(r.Started), "the last sample was counted in time, so the test tests nothing")
	last.collection = is
	o := Compare(r, recordOf(r, before, fullWindow(a, is, 10, 10, 10)))
	expect.That(t, math.Abs(o.Before.Share-2./3) <= 1e-9 && o.Chunks[0].From == "a", "%+v, %+v", o.Before, o.Chunks)
}

func TestRowsChangedInPlaceAreListedButNotAddedToNewRows(t *testing.T) {
	r := endedRun(actions.Pin, operation.OpMove, keyAt(0), keyAt(10), "b")
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
	expect.That(t, slices.Contains(o.Notes, NoteGathers) && !slices.Contains(o.Notes, NoteHottest), "notes %v", o.Notes)
	alone := &Record{Closed: true, Collections: []CollectionRecord{changed}}
	if o := Compare(r, alone); o.State != Measured || !o.Before.Total.AtLeast || !slices.Contains(o.Notes, NoteHottest) {
		t.Errorf("%s %+v %v", o.State, o.Before.Total, o.Notes)
	}
}

func TestRunsShareRangesWhereTheseOverlap(t *testing.T) {
	table := &topology.Table{Collections: []*topology.Collection{collection(t, []int64{0, 10}, "a", "a", "b")}}
	mine := scopeOf(endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b"))
	batch := scope{spans: map[topology.Namespace][]keySpan{ns: nil}}
	for name, x := range map[string]struct {
		other scope
		want  bool
	}{
		"beside it": {scopeOf(endedRun(actions.MoveChunk, operation.OpMove, keyAt(10), keyAt(20), "b")), false},
		"a part":    {scopeOf(endedRun(actions.MoveChunk, operation.OpMove, keyAt(5), keyAt(7), "b")), true},
		"a split":   {scopeOf(endedRun(actions.Split, operation.OpSplitAt, keyAt(0), keyAt(10), "")), true},
		"a batch":   {batch, true},
		"elsewhere": {scope{}, false},
	} {
		expect.Equal(t, mine.sameRanges(table, x.other), x.want, "%s", name)
	}
}

func TestVerdicts(t *testing.T) {
	for _, x := range []struct {
		p    float64
		n    int64
		q    float64
		m    int64
		want Verdict
	}{
		{.62, 6000, .41, 6000, Helped},
		{.41, 6000, .62, 6000, Worse},
		{.62, 6000, .60, 6000, NoChange},           // significant, but too small to matter
		{.62, 1_000_000, .57, 1_000_000, NoChange}, // less than a tenth
		{.62, 120, .52, 120, NoChange},             // within chance
		{.08, 50_000, .04, 50_000, Helped},         // a small chunk that was halved
		{.008, 1_000_000, .001, 1_000_000, NoChange},
		{0, 5000, 0, 5000, NoChange},
		{1, 5000, .5, 5000, Helped},
		{.9, 99, .1, 5000, ""},
		{.9, 5000, .1, 0, ""},
	} {
		if got, pm := judge(x.p, x.n, x.q, x.m); got != x.want {
			t.Errorf("%v of %d to %v of %d: %q ± %v, want %q", x.p, x.n, x.q, x.m, got, pm, x.want)
		}
	}
}

func TestVerdictsReverseWithTheWindowsAndHoldWithMoreRows(t *testing.T) {
	opposite := map[Verdict]Verdict{Helped: Worse, Worse: Helped, NoChange: NoChange, "": ""}
	rapid.Check(t, func(t *rapid.T) {
		p, q := rapid.Float64Range(0, 1).Draw(t, "p"), rapid.Float64Range(0, 1).Draw(t, "q")
		n, m := rapid.Int64Range(0, 100_000).Draw(t, "n"), rapid.Int64Range(0, 100_000).Draw(t, "m")
		v, pm := judge(p, n, q, m)
		if back, same := judge(q, m, p, n); back != opposite[v] || same != pm {
			t.Fatalf("%q one way, %q the other", v, back)
		}
		if more, less := judge(p, 10*n, q, 10*m); (v == Helped || v == Worse) && (more != v || less > pm) {
			t.Fatalf("%q with n rows, %q with ten times as many", v, more)
		}
	})
}

// With unchanged writers, a change is reported in a few of a hundred cases.
func TestChanceIsSeldomReportedAsAChange(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 2))
	draw := func(rows int) (float64, int64) {
		hot := 0
		for range rows {
			if rng.Float64() < .5 {
				hot++
			}
		}
		return float64(hot) / float64(rows), int64(rows)
	}
	wrong := 0
	for range 1000 {
		p, n := draw(400)
		q, m := draw(400)
		if v, _ := judge(p, n, q, m); v != NoChange {
			wrong++
		}
	}
	expect.That(t, wrong <= 70, "%d of 1,000", wrong)
}

func TestCostHasTheServersCountsAndTheEstimate(t *testing.T) {
	run := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	counts := func(d bson.D) []topology.Event {
		raw := must.Get(bson.Marshal(d))
		return []topology.Event{{What: "moveChunk.start"}, {What: "moveChunk.commit", Details: raw}}
	}
	known := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
	p := actions.Plan{Draft: actions.Draft{Effect: actions.Effect{Bytes: known(900), Documents: known(9), Duration: known(90),
		Moves: []actions.MoveEffect{{NS: ns, Min: keyAt(0), Max: keyAt(10), To: "b",
			Bytes: known(900), Documents: known(9), Duration: known(90)}}}}}
	run.Steps[0].Events = counts(bson.D{{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(7)},
		{Key: "clonedBytes", Value: int64(700)}}}})
	added := run.Steps[0]
	added.Min, added.Events = keyAt(20), counts(
		bson.D{{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(3)}, {Key: "clonedBytes", Value: int64(300)}}}})
	run.Steps = append(run.Steps, added)
	c := CostOf(p, run)
	if c.Moved != 2 || c.Total.Actual.Documents.Value != 10 || c.Total.Actual.Bytes.Value != 1000 || c.Total.Actual.Millis.Value != 38_000 ||
		c.Total.Estimated.Bytes.Value != 900 {
		t.Errorf("%+v", c.Total)
	}
	if s := c.Steps[1].Estimated.Bytes; s.Known || s.Reason != reasonNotIn || !c.Steps[0].Estimated.Bytes.Known {
		t.Errorf("a step that was not planned has an estimate: %+v", s)
	}
	again := run // a move that was put off and sent again is one move
	again.Steps = append([]engine.Step{{Step: run.Steps[0].Step, State: engine.Deferred}}, run.Steps...)
	if c := CostOf(p, again); c.Moved != 2 || len(c.Steps) != 2 || c.Steps[0].Step != 1 {
		t.Errorf("a try that was put off counts: %+v", c.Steps)
	}
	run.Steps[1].Events = counts(bson.D{{Key: "from", Value: "a"}})
	if c := CostOf(p, run); c.Total.Actual.Bytes.Known || c.Total.Actual.Bytes.Reason != reasonNoEntry || !c.Total.Actual.Millis.Known {
		t.Errorf("the sum of unknown figures is known: %+v", c.Total.Actual)
	}
	run.Steps[0].State, run.Steps[1].State = engine.Succeeded, engine.Unknown
	if c := CostOf(p, run); c.Moved != 1 || c.Total.Actual.Bytes.Reason != ReasonUnknown ||
		c.Steps[1].Actual.Documents.Reason != ReasonUnknown {
		t.Errorf("a move whose outcome is unknown counts as done, or as not done: %+v", c)
	}
	run.Steps[0].State, run.Steps[1].State = engine.Failed, engine.Planned
	if c := CostOf(p, run); c.Moved != 0 || c.Total.Actual.Bytes.Known || c.Steps[0].Actual.Millis.Known {
		t.Errorf("a failed move has a cost: %+v", c)
	}
}
