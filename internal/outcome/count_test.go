package outcome

import (
	"fmt"
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
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

func TestWindowsAreWholeMinutesOfTheSameLengthOutsideTheRun(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		started := start.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "start")))
		ended := started.Add(time.Duration(rapid.Int64Range(0, int64(time.Hour)).Draw(t, "took")))
		b, a := windows(started, ended)
		if b.To.After(started) || started.Sub(b.To) >= windowAlignment || a.From.Before(ended) || a.From.Sub(ended) >= windowAlignment {
			t.Errorf("%v to %v: before %v, after %v", started, ended, b, a)
		}
		expect.That(t, b.Seconds() == Window.Seconds() && a.Seconds() == b.Seconds(),
			"%v and %v", b.Seconds(), a.Seconds())
	})
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
			must.That(t, whole == nil, "an uncounted window has counts")
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
	expect.That(t, len(got.Chunks) == chunksListed && got.More == 201-chunksListed && got.Chunks[0].Rows == 149,
		"%d listed, %d more, the hottest has %d", len(got.Chunks), got.More, got.Chunks[0].Rows)
	for i := 1; i < len(got.Chunks); i++ {
		expect.That(t, got.Chunks[i].Rows <= got.Chunks[i-1].Rows, "chunk %d is hotter than the one before it", i)
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
	expect.That(t, hot.PerSecond == 10 && !hot.Exact && hot.PlusMinus > 0 && cold.PerSecond == 0 && cold.PlusMinus > 0,
		"%+v, %+v", hot, cold)
}

// Whether a batch helped is measured around the whole batch, by shards, and not around its items.
func TestABatchIsMeasuredAsOneChange(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(12*time.Minute, 30, 20, 10)
		batch := engine.Run{ID: "batch", Kind: actions.Batch, State: engine.Running, Started: time.Now(), Batch: &engine.Batch{Items: 1},
			Limits: operation.Limits{Collections: []topology.Namespace{ns}}}
		r.setRun(batch)
		item := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
		item.ID, item.Parent, item.Item, item.State, item.Started, item.Ended = "item", "batch", 1, engine.Running, time.Now(), time.Time{}
		r.setRun(item)
		r.countWrites(3*time.Minute, 30, 20, 10)
		r.c = collection(t, []int64{0, 10}, "a", "b", "b")
		r.fakes.mu.Lock()
		r.table = &topology.Table{ClusterID: "c", Loaded: true, Collections: []*topology.Collection{r.c}}
		r.fakes.mu.Unlock()
		r.endRun(item)
		batch.State, batch.Ended, batch.Batch = engine.Succeeded, time.Now(), &engine.Batch{Items: 1, Done: 1}
		r.setRun(batch)
		r.countWrites(12*time.Minute, 30, 20, 10)
		if o := r.outcome(batch); o.State != Measured || o.Verdict != Helped || o.Before.Hottest != "a" {
			t.Errorf("%+v", o)
		}
		if _, measured := r.rows["item"]; measured {
			t.Error("an item is measured by itself")
		}
	})
}

func TestABatchIsJudgedByTheCollectionsOfItsItems(t *testing.T) {
	limits := operation.Limits{Collections: []topology.Namespace{ns, "app.other"}}
	for name, c := range map[string]struct {
		state engine.State
		done  int
		empty bool
	}{
		"running":       {engine.Running, 0, false},
		"stopped early": {engine.Stopped, 0, true},
		"stopped":       {engine.Stopped, 1, false},
		"all":           {engine.Succeeded, 2, false},
	} {
		s := scopeOf(engine.Run{Kind: actions.Batch, State: c.state, Limits: limits, Batch: &engine.Batch{Items: 2, Done: c.done}})
		if s.empty() != c.empty || !c.empty && (s.basis != ByShards || s.zonesOnly || len(s.namespaces()) != 2) {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

func TestMigrationsByOthersAreDistinguishedFromTheRunsOwn(t *testing.T) {
	run := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	k := &measurement{run: run, scope: scopeOf(run)}
	b, a := windows(run.Started, run.Ended)
	table := func(events ...topology.Event) *topology.Table {
		return &topology.Table{Collections: []*topology.Collection{collection(t, []int64{0, 10}, "a", "a", "b")}, Events: events}
	}
	move := func(when time.Time, of topology.Namespace, lo bson.Raw, to string) topology.Event {
		hi := keyAt(10)
		if string(lo) == string(hi) {
			hi = maxKey()
		}
		d := must.Get(bson.Marshal(bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "to", Value: to}}))
		return topology.Event{Time: when, What: "moveChunk.commit", NS: string(of), Details: d}
	}
	events := []topology.Event{
		move(a.From.Add(time.Minute), ns, keyAt(10), "a"),          // another chunk, after
		move(start.Add(10*time.Second), ns, keyAt(0), "b"),         // its own move
		move(start.Add(9*time.Second), ns, keyAt(10), "b"),         // another chunk, during the run
		move(start.Add(8*time.Second), "app.other", keyAt(0), "b"), // another collection
		move(b.From.Add(-time.Second), ns, keyAt(10), "c"),         // long before
		{Time: start, What: "moveChunk.start", NS: string(ns)},
	}
	if n, again := otherMigrations(table(events...), k, Span{b.From, a.To}); n != 2 || again {
		t.Errorf("%d by others, want 2; again: %v", n, again)
	}
	if n, again := otherMigrations(table(move(a.From, ns, keyAt(0), "c")), k, Span{b.From, a.To}); n != 1 || !again {
		t.Errorf("its own chunk was moved again: %d by others, again: %v", n, again)
	}
	beside := move(a.From, ns, keyAt(10), "c") // the chunk from which a split cut the range that the run moved
	split := engine.Step{Step: operation.Step{Op: operation.OpSplitAt, NS: ns, At: keyAt(10),
		Needs: []operation.Fact{{Kind: operation.FactChunk, NS: ns, Min: keyAt(0), Max: maxKey()}}}, State: engine.Succeeded}
	for name, x := range map[string]struct {
		steps []engine.Step
		again bool
	}{
		"split and moved": {append([]engine.Step{split}, run.Steps...), false},
		"only split":      {[]engine.Step{split}, true},
	} {
		k := &measurement{run: run}
		k.run.Steps = x.steps
		k.scope = scopeOf(k.run)
		_, again := otherMigrations(table(beside), k, Span{b.From, a.To})
		expect.Equal(t, again, x.again, "%s: its chunks were moved again", name)
	}
	k.scope.awaits = true // the run waits for the balancer, so moves during it are its own
	if n, _ := otherMigrations(table(events...), k, Span{b.From, a.To}); n != 1 {
		t.Errorf("%d by others while it waits for the balancer, want 1", n)
	}
}

const ns = topology.Namespace("app.rows")

var start = time.Date(2026, 3, 1, 10, 30, 20, 0, time.UTC)

// test is one of package testing or of rapid.
type test interface {
	Helper()
	Fatal(args ...any)
	Fatalf(format string, args ...any)
}

// collection has chunks that begin at MinKey and at the given numbers; shards are
// their shards in the same order.
func collection(t test, at []int64, shards ...string) *topology.Collection {
	raw := must.Get(bson.Marshal(bson.D{{Key: "p", Value: 1}}))
	p := must.Get(shardkey.ParsePattern(raw))
	bounds := []shardkey.Key{p.Min()}
	for _, n := range at {
		bounds = append(bounds, key(p, n))
	}
	bounds = append(bounds, p.Max())
	var rows []topology.Chunk
	for i := range len(bounds) - 1 {
		rows = append(rows, topology.Chunk{Min: bounds[i], Max: bounds[i+1], Shard: shards[i],
			Version: topology.Version{Major: 1, Minor: uint32(i)}})
	}
	m := must.Get(topology.BuildChunks(p, rows))
	return &topology.Collection{Meta: topology.Meta{NS: ns, Key: p}, Chunks: m}
}

func key(p shardkey.Pattern, n int64) shardkey.Key { return must.Get(p.Bound(keyAt(n))) }

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
			s.Pieces = append(s.Pieces, heat.PieceOf(c, i, n))
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

func endedRun(kind actions.Kind, op operation.Op, lo, hi bson.Raw, to string) engine.Run {
	s := operation.Step{Op: op, NS: ns, Min: lo, Max: hi, Shard: to}
	if op == operation.OpSplitAt {
		s = operation.Step{Op: op, NS: ns, At: keyAt(5), Needs: []operation.Fact{{Kind: operation.FactChunk, NS: ns, Min: lo, Max: hi}}}
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
