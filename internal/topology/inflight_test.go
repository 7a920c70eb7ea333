package topology

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// moving is a fake that tells of migrations. Fields are changed by edit only.
type moving struct {
	*fake
	list    []Migration
	partial bool // the list is not complete
	ops     []MoveOperation
	counts  map[string]int64
}

func (f *moving) Migrations(ctx context.Context) ([]Migration, bool, error) {
	err := f.begin(ctx, "Migrations")
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.list), !f.partial, err
}

func (f *moving) MoveOperations(ctx context.Context) ([]MoveOperation, error) {
	err := f.begin(ctx, "MoveOperations")
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops), err
}

func (f *moving) Counts(ctx context.Context, _ Namespace) (map[string]int64, error) {
	err := f.begin(ctx, "Counts")
	f.mu.Lock()
	defer f.mu.Unlock()
	out := map[string]int64{}
	for k, n := range f.counts {
		out[k] = n
	}
	return out, err
}

// Sizes has 1,000 documents of 100 bytes on each shard.
func (f *moving) Sizes(ctx context.Context, ns Namespace) (Sizes, error) {
	s, err := f.fake.Sizes(ctx, ns)
	known := func(n int64) Figure { return Figure{Known: true, Value: n, Method: "collStats", At: time.Now()} }
	for _, name := range []string{"a", "b", "c"} {
		if err == nil {
			s.Shards[name] = Size{Documents: known(1000), Bytes: known(100_000)}
		}
	}
	return s, err
}

// newMoving has db.x cut at 0 and 100: a has the first chunk, b the second, c the
// last.
func newMoving(t *testing.T) *moving {
	f := &moving{fake: newFake(t), counts: map[string]int64{"a": 1000, "b": 1000, "c": 1000}}
	f.add("db.x", 1, 0, 100)
	return f
}

func (f *moving) bound(n int64) bson.Raw {
	c := f.colls["db.x"]
	doc, err := c.meta.Key.Document(row(f.t, c.meta.Key, n, highest, "a", 1, 0).Min)
	if err != nil {
		f.t.Fatal(err)
	}
	return doc
}

// begins adds the migration of the second chunk from b to c.
func (f *moving) begins(at time.Time) Migration {
	m := Migration{NS: "db.x", Min: f.bound(0), Max: f.bound(100), From: "b", To: "c", Begun: at}
	f.edit(func() { f.list = []Migration{m} })
	return m
}

func watchMoving(t *testing.T, f *moving, body func(w *Watcher)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := NewWatcher(f, Options{})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		defer func() {
			cancel()
			if err := <-done; err != nil {
				t.Errorf("Run ended with %v", err)
			}
		}()
		after(30 * time.Second) // all sizes are read
		body(w)
	})
}

func TestWhenNothingMovesOneSmallReadATurnIsAllThatItCosts(t *testing.T) {
	f := newMoving(t)
	watchMoving(t, f, func(w *Watcher) {
		was, seq := f.count("Migrations"), w.Table().Moves
		after(time.Minute)
		if n := f.count("Migrations") - was; n < 29 || n > 31 {
			t.Errorf("%d reads of the list in a minute, want 30", n)
		}
		if f.count("MoveOperations") != 0 || f.count("Counts") != 0 || f.count("Events") > 10 {
			t.Errorf("calls %v", f.calls)
		}
		if len(seq.List) != 0 || w.Table().Stale(PartMoves, time.Now()) {
			t.Errorf("%+v", w.Table().Health[PartMoves])
		}
	})
}

func TestAMoveIsFollowedFromItsBeginToItsEnd(t *testing.T) {
	f := newMoving(t)
	watchMoving(t, f, func(w *Watcher) {
		begun := time.Now()
		m := f.begins(begun)
		f.edit(func() {
			f.ops = []MoveOperation{
				{Shard: "b", Command: true, NS: "db.x", Min: m.Min, From: "b", To: "c", App: "mongosh 2.12.0", Running: time.Second},
				{Shard: "b", Step: 2, Steps: 6}, {Shard: "c", Step: 3, Steps: 7}, {Shard: "a", Step: 1, Steps: 6},
			}
		})
		after(2 * time.Second)
		list := w.Table().Moves.List
		if len(list) != 1 {
			t.Fatalf("%+v", list)
		}
		x := list[0]
		if x.NS != "db.x" || x.From != "b" || x.To != "c" || !x.Since.Equal(begun) || x.AtLeast || x.Step != 3 || x.Steps != 6 ||
			!x.StepInferred ||
			x.RecipientStep != 3 || x.RecipientSteps != 7 ||
			x.By != MoveByClient ||
			x.App != "mongosh 2.12.0" {
			t.Errorf("%+v", x)
		}
		if x.Left.Known || x.Copied.Known {
			t.Errorf("nothing was counted twice yet: %+v", x)
		}
		// 100 documents a second arrive; the donor has 1,000 in its one chunk.
		for i := range 4 {
			f.edit(func() { f.counts["c"] = 1000 + int64(i+1)*200 })
			after(2 * time.Second)
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
		f.edit(func() {
			f.counts["c"] = 3000
			f.ops[1].Step = 3
		})
		after(2 * time.Second)
		if x = w.Table().Moves.List[0]; x.Step != 3 || x.StepInferred {
			t.Errorf("the donor has reported it: %+v", x)
		}
		if x = w.Table().Moves.List[0]; x.Copied.Value < x.Estimate.Value || x.Left.Known || x.Left.Reason != "beyondEstimate" {
			t.Errorf("more than estimated: %+v", x)
		}
		f.edit(func() {
			f.list, f.ops = nil, nil
			f.events = []Event{{ID: "end", Time: time.Now(), What: "moveChunk.from", NS: "db.x"}}
		})
		after(2 * time.Second)
		if table := w.Table(); len(table.Moves.List) != 0 || len(table.Events) != 1 {
			t.Errorf("after its end: %+v, %d events", table.Moves.List, len(table.Events))
		}
	})
}

func TestAMoveThatDoesNotProgressWakesNobody(t *testing.T) {
	f := newMoving(t)
	watchMoving(t, f, func(w *Watcher) {
		f.begins(time.Now())
		after(20 * time.Second)
		was := w.Table().Seq
		after(8 * time.Second)
		if is := w.Table().Seq; is != was {
			t.Errorf("%d tables were published", is-was)
		}
	})
}

func TestALongMoveIsLookedAtRarely(t *testing.T) {
	f := newMoving(t)
	watchMoving(t, f, func(w *Watcher) {
		f.begins(time.Now())
		after(2 * time.Hour)
		ops, counts := f.count("MoveOperations"), f.count("Counts")
		after(10 * time.Minute)
		if n := f.count("MoveOperations") - ops; n < 9 || n > 11 {
			t.Errorf("asked %d times in ten minutes what the shards do", n)
		}
		if n := f.count("Counts") - counts; n < 9 || n > 11 {
			t.Errorf("counted %d times in ten minutes", n)
		}
	})
}

func TestWhatWasCopiedBeforeTheFirstCountMakesTheTimeLeftUnknown(t *testing.T) {
	f := newMoving(t)
	watchMoving(t, f, func(w *Watcher) {
		f.begins(time.Now().Add(-time.Hour))
		after(4 * time.Second)
		f.edit(func() { f.counts["c"] = 1100 })
		after(4 * time.Second)
		x := w.Table().Moves.List[0]
		if !x.Copied.Known || x.Left.Known || x.Left.Reason != "beginUnseen" {
			t.Errorf("%+v", x)
		}
	})
}

func TestUnknownPartsOfAMoveSayWhy(t *testing.T) {
	denied := func(privilege string) error {
		return fault.Wrap(fault.Forbidden, &DeniedError{Privilege: privilege}, "no")
	}
	t.Run("counts", func(t *testing.T) {
		f := newMoving(t)
		f.fail["Counts"] = denied("collStats on db.x")
		watchMoving(t, f, func(w *Watcher) {
			f.begins(time.Now())
			after(4 * time.Second)
			x := w.Table().Moves.List[0]
			if x.Copied.Known || x.Copied.Reason != "notPermitted" || x.Left.Known || x.Left.Reason != "notPermitted" {
				t.Errorf("%+v", x)
			}
		})
	})
	t.Run("operations", func(t *testing.T) {
		f := newMoving(t)
		f.fail["MoveOperations"] = denied("inprog on the cluster")
		watchMoving(t, f, func(w *Watcher) {
			f.begins(time.Now())
			after(30 * time.Second)
			m := w.Table().Moves
			if m.StepsReason != "notPermitted" || m.StepsPrivilege != "inprog on the cluster" || m.List[0].By != "" {
				t.Errorf("%+v", m)
			}
			f.edit(func() { f.list = nil })
			after(4 * time.Second)
			f.begins(time.Now())
			after(10 * time.Second)
			if n := f.count("MoveOperations"); n != 1 {
				t.Errorf("asked %d times for what is not permitted", n)
			}
		})
	})
	t.Run("recipient", func(t *testing.T) {
		f := newMoving(t)
		delete(f.counts, "c")
		watchMoving(t, f, func(w *Watcher) {
			f.begins(time.Now())
			after(4 * time.Second)
			if x := w.Table().Moves.List[0]; x.Copied.Reason != "recipientNotAsked" {
				t.Errorf("%+v", x)
			}
		})
	})
	t.Run("fell", func(t *testing.T) {
		f := newMoving(t)
		watchMoving(t, f, func(w *Watcher) {
			f.begins(time.Now())
			after(4 * time.Second)
			f.edit(func() { f.counts["c"] = 5 })
			after(4 * time.Second)
			if x := w.Table().Moves.List[0]; x.Copied.Known || x.Copied.Reason != "countFell" || x.Left.Known {
				t.Errorf("%+v", x)
			}
		})
	})
	t.Run("frozen shard", func(t *testing.T) {
		f := newMoving(t)
		f.hang["MoveOperations"], f.hang["Counts"] = true, true
		watchMoving(t, f, func(w *Watcher) {
			f.begins(time.Now())
			for range 30 {
				after(2 * time.Second)
				if w.Table().Stale(PartMoves, time.Now().Add(-4*time.Second)) {
					t.Fatalf("a shard that hangs holds the list up: read at %s, now %s", w.Table().Health[PartMoves].At, time.Now())
				}
			}
			m := w.Table().Moves
			if m.StepsReason != "unreachable" || m.List[0].Copied.Reason != "unreachable" || m.List[0].Left.Known {
				t.Errorf("%+v", m)
			}
			f.edit(func() { clear(f.hang) })
			after(20 * time.Second)
			if m = w.Table().Moves; m.StepsReason != "" || !m.List[0].Copied.Known {
				t.Errorf("it has not come back: %+v", m)
			}
		})
	})
	t.Run("frozen config server", func(t *testing.T) {
		f := newMoving(t)
		watchMoving(t, f, func(w *Watcher) {
			f.begins(time.Now())
			after(4 * time.Second)
			f.edit(func() { f.hang["all"] = true })
			after(time.Minute)
			table := w.Table()
			if len(table.Moves.List) != 1 || !table.Stale(PartMoves, time.Now()) {
				t.Errorf("what was known goes, or is not stale: %+v %+v", table.Moves, table.Health[PartMoves])
			}
			f.edit(func() { f.hang["all"] = false })
			after(time.Minute)
			if table = w.Table(); table.Stale(PartMoves, time.Now()) {
				t.Errorf("it has not come back: %+v", table.Health[PartMoves])
			}
		})
	})
}

// logged is the entry of a move of the second chunk.
func (f *moving) logged(id, what string, at time.Time) Event {
	d, err := bson.Marshal(
		bson.D{{Key: "min", Value: f.bound(0)}, {Key: "max", Value: f.bound(100)}, {Key: "from", Value: "b"}, {Key: "to", Value: "c"}},
	)
	if err != nil {
		f.t.Fatal(err)
	}
	return Event{ID: id, Time: at, What: what, NS: "db.x", Shard: "b", Details: d}
}

// Releases without the list, and users who may not read it, have the changelog.
func TestWithoutTheListTheChangelogTellsWhatMoves(t *testing.T) {
	for name, err := range map[string]error{
		"no list":       nil,
		"not permitted": fault.Wrap(fault.Forbidden, &DeniedError{Privilege: "find on config.migrations"}, "no"),
	} {
		t.Run(name, func(t *testing.T) {
			f := newMoving(t)
			f.fail["Migrations"], f.partial = err, true
			watchMoving(t, f, func(w *Watcher) {
				begun := time.Now()
				f.edit(func() {
					f.events = []Event{f.logged("1", "moveChunk.start", begun)}
					f.ops = []MoveOperation{{Shard: "b", Command: true, NS: "db.x", From: "b", To: "c", Step: 3, Steps: 6}}
				})
				after(2 * time.Second)
				m := w.Table().Moves
				if (m.ListPrivilege != "") != (err != nil) {
					t.Errorf("lacking %q", m.ListPrivilege)
				}
				if len(m.List) != 1 || !m.FromLog || !m.List[0].Since.Equal(begun) || m.List[0].By != MoveByBalancer || m.List[0].Step != 3 {
					t.Fatalf("%+v", m)
				}
				after(time.Hour) // the donor still shows it
				if len(w.Table().Moves.List) != 1 {
					t.Error("a long move was given up")
				}
				f.edit(func() { f.events = append([]Event{f.logged("2", "moveChunk.commit", time.Now())}, f.events...) })
				after(2 * time.Second)
				if len(w.Table().Moves.List) != 0 {
					t.Errorf("after the commit: %+v", w.Table().Moves)
				}
			})
		})
	}
}

func TestALoggedMoveThatNoDonorShowsIsOver(t *testing.T) {
	f := newMoving(t)
	f.partial = true
	watchMoving(t, f, func(w *Watcher) {
		f.edit(func() { f.events = []Event{f.logged("1", "moveChunk.start", time.Now())} })
		after(2 * time.Second)
		if len(w.Table().Moves.List) != 1 {
			t.Fatal("not seen")
		}
		after(4 * time.Second)
		if len(w.Table().Moves.List) != 0 {
			t.Error("its donor does nothing, and it counts as under way")
		}
		after(time.Minute)
		if len(w.Table().Moves.List) != 0 {
			t.Error("it came back")
		}
	})
}

func TestAPartOfAChunkIsEstimatedByWhatFitsIntoOne(t *testing.T) {
	f := newMoving(t)
	f.balancer.ChunkBytes = 10_000 // 100 documents
	watchMoving(t, f, func(w *Watcher) {
		f.edit(func() {
			f.list = []Migration{{NS: "db.x", Min: f.bound(10), Max: f.bound(20), From: "b", To: "c", Begun: time.Now()}}
		})
		after(2 * time.Second)
		if x := w.Table().Moves.List[0]; !x.Estimate.Known || x.Estimate.Value != 100 {
			t.Errorf("%+v", x.Estimate)
		}
	})
}

// Of hostile or torn lists nothing is made up, and many at once cost no more reads.
func TestManyMovesAndStrangeOnes(t *testing.T) {
	f := newMoving(t)
	for i := range 11 {
		f.add(Namespace(fmt.Sprintf("db.y%d", i)), byte(i+2))
	}
	watchMoving(t, f, func(w *Watcher) {
		f.edit(func() {
			for i := range 11 {
				f.list = append(
					f.list,
					Migration{
						NS:    Namespace(fmt.Sprintf("db.y%d", i)),
						Min:   f.bound(0),
						From:  fmt.Sprint("d", i),
						To:    fmt.Sprint("r", i),
						Begun: time.Now(),
					},
				)
			}
			f.list = append(f.list, Migration{NS: "gone.gone", Min: bson.Raw{5, 0, 0, 0, 0}, Max: bson.Raw{5, 0, 0, 0, 0}},
				Migration{NS: "db.x", Min: f.bound(100), Max: f.bound(0), From: "b", To: "b"})
		})
		ops, counts := f.count("MoveOperations"), f.count("Counts")
		after(time.Minute)
		if len(w.Table().Moves.List) != 13 {
			t.Fatalf("%d moves", len(w.Table().Moves.List))
		}
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

// A release that keeps some migrations in its list and logs all has each once.
func TestAMoveThatIsListedAndLoggedIsOne(t *testing.T) {
	f := newMoving(t)
	f.partial = true
	watchMoving(t, f, func(w *Watcher) {
		begun := time.Now()
		f.edit(func() { f.events = []Event{f.logged("1", "moveChunk.start", begun)} })
		after(2 * time.Second)
		f.begins(begun.Truncate(time.Second))
		after(4 * time.Second)
		if list := w.Table().Moves.List; len(list) != 1 || !list[0].Since.Equal(begun) {
			t.Errorf("%+v", list)
		}
		after(time.Hour) // no donor shows it, and the config server lists it
		if len(w.Table().Moves.List) != 1 {
			t.Error("a listed move was given up")
		}
	})
}
