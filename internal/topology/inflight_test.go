package topology

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestIdleClusterCostsOneSmallReadATurn(t *testing.T) {
	f := newFakeMigrations(t)
	watchMigrations(t, f, func(w *Watcher) {
		was, seq := f.count("Migrations"), w.Table().Moves
		wait(time.Minute)
		if n := f.count("Migrations") - was; n < 29 || n > 31 {
			t.Errorf("%d reads of the list in a minute, want 30", n)
		}
		if f.count("MoveOperations") != 0 || f.count("Counts") != 0 || f.count("Events") > 10 {
			t.Errorf("calls %v", f.calls)
		}
		expect.That(t, len(seq.List) == 0 && !w.Table().Stale(PartMoves, time.Now()), "%+v", w.Table().Health[PartMoves])
	})
}

func TestMigrationIsFollowedFromStartToEnd(t *testing.T) {
	f := newFakeMigrations(t)
	watchMigrations(t, f, func(w *Watcher) {
		begun := time.Now()
		m := f.begin(begun)
		f.change(func() {
			f.ops = []MoveOperation{
				{Shard: "b", Command: true, NS: "db.x", Min: m.Min, From: "b", To: "c", App: "mongosh 2.12.0", Running: time.Second},
				{Shard: "b", Step: 2, Steps: 6}, {Shard: "c", Step: 3, Steps: 7}, {Shard: "a", Step: 1, Steps: 6},
			}
		})
		wait(2 * time.Second)
		list := w.Table().Moves.List
		must.That(t, len(list) == 1, "%+v", list)
		x := list[0]
		if x.NS != "db.x" || x.From != "b" || x.To != "c" || !x.Since.Equal(begun) || x.AtLeast || x.Step != 3 || x.Steps != 6 ||
			!x.StepInferred ||
			x.RecipientStep != 3 || x.RecipientSteps != 7 ||
			x.By != MoveByClient ||
			x.App != "mongosh 2.12.0" {
			t.Errorf("%+v", x)
		}
		expect.That(t, !x.Left.Known && !x.Copied.Known, "an estimate after a single count: %+v", x)
		// 100 documents a second arrive; the donor has 1,000 in its one chunk.
		for i := range 4 {
			f.change(func() { f.counts["c"] = 1000 + int64(i+1)*200 })
			wait(2 * time.Second)
		}
		x = w.Table().Moves.List[0]
		if !x.Estimate.Known || x.Estimate.Value != 1000 || x.Estimate.Exact || x.Estimate.Method != "chunkShare" {
			t.Errorf("estimate %+v", x.Estimate)
		}
		if !x.Copied.Known || x.Copied.Value != 600 && x.Copied.Value != 800 || x.Copied.Exact {
			t.Errorf("copied %+v", x.Copied)
		}
		if want := time.Duration(1000-x.Copied.Value) * time.Second / 100; !x.Left.Known || x.Left.For < want-2*time.Second ||
			x.Left.For > want+2*time.Second {
			t.Errorf("left %+v, want about %s", x.Left, want)
		}
		f.change(func() {
			f.counts["c"] = 3000
			f.ops[1].Step = 3
		})
		wait(2 * time.Second)
		if x = w.Table().Moves.List[0]; x.Step != 3 || x.StepInferred {
			t.Errorf("the donor has reported the end of copying: %+v", x)
		}
		if x = w.Table().Moves.List[0]; x.Copied.Value < x.Estimate.Value || x.Left.Known || x.Left.Reason != "beyondEstimate" {
			t.Errorf("more than estimated: %+v", x)
		}
		f.change(func() {
			f.list, f.ops = nil, nil
			f.events = []Event{{ID: "end", Time: time.Now(), What: "moveChunk.from", NS: "db.x"}}
		})
		wait(2 * time.Second)
		if table := w.Table(); len(table.Moves.List) != 0 || len(table.Events) != 1 {
			t.Errorf("after its end: %+v, %d events", table.Moves.List, len(table.Events))
		}
	})
}

func TestMigrationWithoutProgressIsNotPublished(t *testing.T) {
	f := newFakeMigrations(t)
	watchMigrations(t, f, func(w *Watcher) {
		f.begin(time.Now())
		wait(20 * time.Second)
		was := w.Table().Seq
		wait(8 * time.Second)
		if is := w.Table().Seq; is != was {
			t.Errorf("%d tables were published", is-was)
		}
	})
}

func TestLongMigrationIsReadRarely(t *testing.T) {
	f := newFakeMigrations(t)
	watchMigrations(t, f, func(w *Watcher) {
		f.begin(time.Now())
		wait(2 * time.Hour)
		ops, counts := f.count("MoveOperations"), f.count("Counts")
		wait(10 * time.Minute)
		if n := f.count("MoveOperations") - ops; n < 9 || n > 11 {
			t.Errorf("%d reads of the shards' operations in ten minutes", n)
		}
		if n := f.count("Counts") - counts; n < 9 || n > 11 {
			t.Errorf("%d counts in ten minutes", n)
		}
	})
}

func TestTheFirstCopiedDocumentsGiveNoTimeLeft(t *testing.T) {
	f := newFakeMigrations(t)
	watchMigrations(t, f, func(w *Watcher) {
		f.begin(time.Now())
		wait(2 * time.Second)
		f.change(func() { f.counts["c"]++ })
		wait(4 * time.Second)
		if x := w.Table().Moves.List[0]; x.Copied.Value != 1 || x.Left.Known || x.Left.Reason != "noRate" {
			t.Errorf("1 of %d documents gives a time: %+v", x.Estimate.Value, x.Left)
		}
	})
}

func TestTimeLeftIsUnknownWhenCopyingBeganBeforeTheFirstCount(t *testing.T) {
	f := newFakeMigrations(t)
	watchMigrations(t, f, func(w *Watcher) {
		f.begin(time.Now().Add(-time.Hour))
		wait(4 * time.Second)
		f.change(func() { f.counts["c"] = 1100 })
		wait(4 * time.Second)
		x := w.Table().Moves.List[0]
		expect.That(t, x.Copied.Known && !x.Left.Known && x.Left.Reason == "beginUnseen", "%+v", x)
	})
}

func TestPartOfAChunkIsEstimatedFromTheChunkSize(t *testing.T) {
	f := newFakeMigrations(t)
	f.balancer.ChunkBytes = 10_000 // 100 documents
	watchMigrations(t, f, func(w *Watcher) {
		f.change(func() {
			f.list = []Migration{{NS: "db.x", Min: f.bound(10), Max: f.bound(20), From: "b", To: "c", Begun: time.Now()}}
		})
		wait(2 * time.Second)
		if x := w.Table().Moves.List[0]; !x.Estimate.Known || x.Estimate.Value != 100 {
			t.Errorf("%+v", x.Estimate)
		}
	})
}

// Malformed lists produce no invented figures, and many migrations cost no more reads.
func TestManyAndMalformedMigrations(t *testing.T) {
	f := newFakeMigrations(t)
	for i := range 11 {
		f.add(Namespace(fmt.Sprintf("db.y%d", i)), byte(i+2))
	}
	watchMigrations(t, f, func(w *Watcher) {
		f.change(func() {
			for i := range 11 {
				f.list = append(f.list, Migration{NS: Namespace(fmt.Sprintf("db.y%d", i)), Min: f.bound(0),
					From: fmt.Sprint("d", i), To: fmt.Sprint("r", i), Begun: time.Now()})
			}
			f.list = append(f.list, Migration{NS: "gone.gone", Min: bson.Raw{5, 0, 0, 0, 0}, Max: bson.Raw{5, 0, 0, 0, 0}},
				Migration{NS: "db.x", Min: f.bound(100), Max: f.bound(0), From: "b", To: "b"})
		})
		ops, counts := f.count("MoveOperations"), f.count("Counts")
		wait(time.Minute)
		must.That(t, len(w.Table().Moves.List) == 13, "%d moves", len(w.Table().Moves.List))
		if n := f.count("MoveOperations") - ops; n > 31 {
			t.Errorf("%d times asked", n)
		}
		if n := f.count("Counts") - counts; n > 2*31 {
			t.Errorf("%d counts", n)
		}
		for _, x := range w.Table().Moves.List {
			if x.Left.Known && x.Left.For <= 0 || x.NS == "gone.gone" && (x.Estimate.Known || !x.AtLeast) {
				t.Errorf("%+v", x)
			}
			_ = x.Arrived(w.Table())
		}
	})
}

// fakeMigrations is a fake that also reports migrations. Its fields are changed only by change.
type fakeMigrations struct {
	*fake
	list    []Migration
	partial bool // the list is not complete
	ops     []MoveOperation
	counts  map[string]int64
}

func (f *fakeMigrations) Migrations(ctx context.Context) ([]Migration, bool, error) {
	err := f.startCall(ctx, "Migrations")
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), !f.partial, err
}

func (f *fakeMigrations) MoveOperations(ctx context.Context) ([]MoveOperation, error) {
	return answer(ctx, f.fake, "MoveOperations", func() []MoveOperation { return slices.Clone(f.ops) })
}

func (f *fakeMigrations) Counts(ctx context.Context, _ Namespace) (map[string]int64, error) {
	return answer(ctx, f.fake, "Counts", func() map[string]int64 { return maps.Clone(f.counts) })
}

// Sizes has 1,000 documents of 100 bytes on each shard.
func (f *fakeMigrations) Sizes(ctx context.Context, ns Namespace) (Sizes, error) {
	s, err := f.fake.Sizes(ctx, ns)
	known := func(n int64) Figure { return Figure{Known: true, Value: n, Method: "collStats", At: time.Now()} }
	for _, name := range []string{"a", "b", "c"} {
		if err == nil {
			s.Shards[name] = Size{Documents: known(1000), Bytes: known(100_000)}
		}
	}
	return s, err
}

// newFakeMigrations has a collection db.x with bounds at 0 and 100; its chunks are on
// a, b and c.
func newFakeMigrations(t *testing.T) *fakeMigrations {
	f := &fakeMigrations{fake: newFake(t), counts: map[string]int64{"a": 1000, "b": 1000, "c": 1000}}
	f.add("db.x", 1, 0, 100)
	return f
}

func (f *fakeMigrations) bound(n int64) bson.Raw {
	c := f.colls["db.x"]
	doc, err := c.meta.Key.Document(row(f.t, c.meta.Key, n, highest, "a", 1, 0).Min)
	must.Do(f.t, err)
	return doc
}

// begin adds a migration of the second chunk from b to c.
func (f *fakeMigrations) begin(at time.Time) Migration {
	m := Migration{NS: "db.x", Min: f.bound(0), Max: f.bound(100), From: "b", To: "c", Begun: at}
	f.change(func() { f.list = []Migration{m} })
	return m
}

// logEntry is the changelog entry of a move of the second chunk.
func (f *fakeMigrations) logEntry(id, what string, at time.Time) Event {
	d, err := bson.Marshal(bson.D{{Key: "min", Value: f.bound(0)}, {Key: "max", Value: f.bound(100)},
		{Key: "from", Value: "b"}, {Key: "to", Value: "c"}})
	must.Do(f.t, err)
	return Event{ID: id, Time: at, What: what, NS: "db.x", Shard: "b", Details: d}
}

func watchMigrations(t *testing.T, f *fakeMigrations, body func(w *Watcher)) {
	t.Helper()
	watch(t, f, Options{}, func(w *Watcher) {
		wait(30 * time.Second) // all sizes are read
		body(w)
	})
}
