package outcome

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// world is an engine, a table and a store that a test sets.
type world struct {
	mu    sync.Mutex
	runs  []engine.Run // newest first
	table *topology.Table
	rows  map[string]store.RunOutcome
	fail  error
	told  chan struct{}
	none  chan struct{}
	saved int
}

func newWorld(c *topology.Collection) *world {
	return &world{
		table: &topology.Table{ClusterID: "c", Loaded: true, Collections: []*topology.Collection{c}},
		rows:  map[string]store.RunOutcome{},
		told:  make(chan struct{}, 1),
		none:  make(chan struct{}),
	}
}

func (w *world) Runs(_ context.Context, _ string, limit int) ([]engine.Run, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.runs[:min(limit, len(w.runs))]), "", nil
}

func (w *world) RunByID(_ context.Context, id string) (engine.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return engine.Run{}, fault.New(fault.NotFound, "none")
}

// runsOf is a world as one of the recorder's parts: both have a Subscribe.
type runsOf struct{ *world }

func (w runsOf) Subscribe() (<-chan struct{}, func()) { return w.told, func() {} }

func (w *world) Table() *topology.Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table
}

func (w *world) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return w.Table(), w.none, func() {}
}

func (w *world) SaveRunOutcome(_ context.Context, _ string, o store.RunOutcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return w.fail
	}
	w.rows[o.Run], w.saved = o, w.saved+1
	return nil
}

func (w *world) RunOutcome(_ context.Context, _, run string) (store.RunOutcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, ok := w.rows[run]; ok {
		return o, nil
	}
	return store.RunOutcome{}, fault.New(fault.NotFound, "none")
}

func (w *world) OpenRunOutcomes(context.Context, string) (out []store.RunOutcome, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.rows {
		if o.Open {
			out = append(out, o)
		}
	}
	return out, w.fail
}

// set puts a run in the place of the one with its id, or before all, and tells.
func (w *world) set(r engine.Run) {
	w.mu.Lock()
	i := slices.IndexFunc(w.runs, func(o engine.Run) bool { return o.ID == r.ID })
	if i < 0 {
		w.runs = slices.Insert(w.runs, 0, r)
	} else {
		w.runs[i] = r
	}
	w.mu.Unlock()
	select {
	case w.told <- struct{}{}:
	default:
	}
	synctest.Wait()
}

// recording is a recorder that runs, over a collection that is appended to.
type recording struct {
	*testing.T
	*world
	*Recorder
	c   *topology.Collection
	end func()
}

func recorded(t *testing.T, test func(r *recording)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := collection(t, []int64{0, 10}, "a", "a", "b")
		r := &recording{T: t, world: newWorld(c), c: c}
		r.start()
		defer func() { r.end() }()
		test(r)
	})
}

func (r *recording) start() {
	prof := &profile.Profile{Layouts: []profile.Layout{{Collections: []profile.Collection{{Name: "rows", Appended: true}}}}}
	r.Recorder = New(Options{Runs: runsOf{r.world}, Tables: r.world, Profile: prof, Store: r.world})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	rec := r.Recorder
	go func() { defer close(done); _ = rec.Run(ctx) }()
	r.end = func() { cancel(); <-done }
	synctest.Wait()
}

// count has heat count so long, each ten seconds.
func (r *recording) count(d time.Duration, rows ...int64) {
	for range int(d / heat.Tick) {
		from := time.Now().Truncate(heat.Tick)
		time.Sleep(time.Until(from.Add(heat.Tick + 3*time.Second)))
		s := tick(r.c, from, rows...)
		r.Take(s.slot)
		time.Sleep(time.Until(from.Add(heat.Tick + 5*time.Second)))
		synctest.Wait()
	}
}

func (r *recording) begin(id string) engine.Run {
	run := ran(actions.MoveChunk, actions.OpMove, at(0), at(10), "b")
	run.ID, run.Started, run.Ended, run.State = id, time.Now(), time.Time{}, engine.Running
	run.Steps[0].State, run.Steps[0].Sent, run.Steps[0].Ended = engine.Running, time.Now(), time.Time{}
	r.set(run)
	return run
}

func (r *recording) finish(run engine.Run) engine.Run {
	run.Ended, run.State = time.Now(), engine.Succeeded
	run.Steps = slices.Clone(run.Steps)
	run.Steps[0].State, run.Steps[0].Ended = engine.Succeeded, time.Now()
	r.set(run)
	return run
}

func (r *recording) answer(run engine.Run) Outcome {
	r.Helper()
	o, err := r.Of(r.Context(), run)
	if err != nil {
		r.Fatal(err)
	}
	return o
}

func TestARunIsMeasuredFromBeforeItsBeginToAfterItsEnd(t *testing.T) {
	recorded(t, func(r *recording) {
		r.count(12*time.Minute, 30, 20, 10)
		run := r.begin("r")
		if o := r.answer(run); o.State != Running || o.Before.Covered != 590 && o.Before.Covered != 600 {
			t.Errorf("%s, %v s", o.State, o.Before.Covered)
		}
		r.count(3*time.Minute, 30, 20, 10) // a long run: nothing of it is in a window
		r.c = collection(t, []int64{0, 10}, "a", "b", "b")
		r.world.mu.Lock()
		r.table = &topology.Table{ClusterID: "c", Loaded: true, Collections: []*topology.Collection{r.c}}
		r.world.mu.Unlock()
		run = r.finish(run)
		r.count(9*time.Minute, 30, 20, 10)
		if o := r.answer(run); o.State != TooEarly || o.Before.Covered != 600 {
			t.Errorf("%s, %v s", o.State, o.Before.Covered)
		}
		told, end := r.Recorder.Subscribe()
		defer end()
		r.count(3*time.Minute, 30, 20, 10)
		select {
		case <-told:
		default:
			t.Error("nobody is told")
		}
		o := r.answer(run)
		if o.State != Measured || o.Verdict != Helped || o.After.Covered != 600 || o.Before.Hottest != "a" {
			t.Errorf("%+v", o)
		}
		if row := r.rows["r"]; row.Open {
			t.Error("it is still open in the store")
		}
		saved := r.saved
		r.count(2*time.Minute, 1, 1, 1)
		if r.saved != saved || len(r.active) != 0 {
			t.Errorf("it goes on after its end: %d saved", r.saved-saved)
		}
	})
}

func TestAStepThatIsAddedWhileARunRunsIsMeasuredToo(t *testing.T) {
	recorded(t, func(r *recording) {
		r.count(11*time.Minute, 30, 20, 10)
		run := r.begin("r")
		r.count(time.Minute, 30, 20, 10)
		run.Steps = append(
			slices.Clone(run.Steps),
			engine.Step{
				Step:  actions.Step{Op: actions.OpMove, NS: ns, Min: minKey(), Max: at(0), Shard: "b"},
				State: engine.Succeeded,
				Sent:  time.Now(),
				Ended: time.Now(),
			},
		)
		r.set(run)
		run = r.finish(run)
		r.count(13*time.Minute, 30, 20, 10)
		o := r.answer(run)
		if o.State != Measured || len(o.Chunks) != 2 || o.Chunks[0].Before == nil || o.Chunks[0].Before.PerSecond != 3 {
			t.Errorf("%s %+v", o.State, o.Chunks)
		}
	})
}

func TestWhatCannotBeSavedIsSavedLater(t *testing.T) {
	recorded(t, func(r *recording) {
		r.count(11*time.Minute, 30, 20, 10)
		r.world.mu.Lock()
		r.fail = errors.New("disk full")
		r.world.mu.Unlock()
		run := r.finish(r.begin("r"))
		r.count(13*time.Minute, 10, 20, 10)
		if o := r.answer(run); o.State != Measured {
			t.Errorf("%s while the disk is full", o.State)
		}
		r.world.mu.Lock()
		r.fail = nil
		r.world.mu.Unlock()
		r.count(time.Minute, 10, 20, 10)
		r.end()
		r.start()
		if o := r.answer(run); o.State != Measured || o.Before.Covered != 600 || o.After.Covered != 600 {
			t.Errorf("%+v", o)
		}
	})
}

func TestATimeInWhichNobodyCountedIsAGapAndEndsTheWaiting(t *testing.T) {
	recorded(t, func(r *recording) {
		r.count(11*time.Minute, 30, 20, 10)
		run := r.finish(r.begin("r"))
		time.Sleep(12 * time.Minute)
		synctest.Wait()
		o := r.answer(run)
		if o.State != Uncounted || o.Reason != reasonGap || o.Collections[0].CoveredBefore != 600 || o.Collections[0].After != nil {
			t.Errorf("%s %s %+v", o.State, o.Reason, o.Collections)
		}
		// A process that starts hours later closes what an earlier one left.
		left := r.finish(r.begin("left"))
		r.end()
		time.Sleep(3 * time.Hour)
		r.start()
		if row := r.rows["left"]; row.Open {
			t.Error("still open hours later")
		}
		if o := r.answer(left); o.State != Uncounted {
			t.Errorf("%s", o.State)
		}
	})
}

func TestARunThatFailedBeforeItDidAnythingIsNotMeasured(t *testing.T) {
	recorded(t, func(r *recording) {
		r.count(2*time.Minute, 30, 20, 10)
		run := r.begin("r")
		run.State, run.Ended, run.Steps = engine.Failed, time.Now(), slices.Clone(run.Steps)
		run.Steps[0].State = engine.Failed
		r.set(run)
		if o := r.answer(run); o.State != Unchanged || len(r.active) != 0 {
			t.Errorf("%s, %d active", o.State, len(r.active))
		}
	})
}

func TestMigrationsOfOthersAreToldFromOnesOwn(t *testing.T) {
	run := ran(actions.MoveChunk, actions.OpMove, at(0), at(10), "b")
	k := &comparison{run: run, scope: scopeOf(run)}
	b, a := windows(run.Started, run.Ended)
	table := func(events ...topology.Event) *topology.Table {
		return &topology.Table{Collections: []*topology.Collection{collection(t, []int64{0, 10}, "a", "a", "b")}, Events: events}
	}
	move := func(when time.Time, of topology.Namespace, lo bson.Raw, to string) topology.Event {
		hi := at(10)
		if string(lo) == string(hi) {
			hi = maxKey()
		}
		d, err := bson.Marshal(bson.D{{Key: "min", Value: lo}, {Key: "max", Value: hi}, {Key: "to", Value: to}})
		if err != nil {
			t.Fatal(err)
		}
		return topology.Event{Time: when, What: "moveChunk.commit", NS: string(of), Details: d}
	}
	events := []topology.Event{
		move(a.From.Add(time.Minute), ns, at(10), "a"),          // another chunk, after
		move(start.Add(10*time.Second), ns, at(0), "b"),         // its own
		move(start.Add(9*time.Second), ns, at(10), "b"),         // another chunk, meanwhile
		move(start.Add(8*time.Second), "app.other", at(0), "b"), // another collection
		move(b.From.Add(-time.Second), ns, at(10), "c"),         // long before
		{Time: start, What: "moveChunk.start", NS: string(ns)},
	}
	if n, again := otherMigrations(table(events...), k, Span{b.From, a.To}); n != 2 || again {
		t.Errorf("%d by others, want 2; again: %v", n, again)
	}
	if n, again := otherMigrations(table(move(a.From, ns, at(0), "c")), k, Span{b.From, a.To}); n != 1 || !again {
		t.Errorf("its own chunk is moved on: %d by others, again: %v", n, again)
	}
	k.scope.awaits = true // what moves meanwhile is what the run waits for
	if n, _ := otherMigrations(table(events...), k, Span{b.From, a.To}); n != 1 {
		t.Errorf("%d by others while it waits for the balancer, want 1", n)
	}
}

func TestCostIsTheServersCountBesideTheEstimate(t *testing.T) {
	run := ran(actions.MoveChunk, actions.OpMove, at(0), at(10), "b")
	counts := func(d bson.D) []topology.Event {
		raw, err := bson.Marshal(d)
		if err != nil {
			t.Fatal(err)
		}
		return []topology.Event{{What: "moveChunk.start"}, {What: "moveChunk.commit", Details: raw}}
	}
	known := func(n int64) topology.Figure { return topology.Figure{Known: true, Value: n} }
	p := actions.Plan{Draft: actions.Draft{Effect: actions.Effect{Bytes: known(900), Documents: known(9), Duration: known(90),
		Moves: []actions.MoveEffect{{NS: ns, Min: at(0), Max: at(10), To: "b", Bytes: known(900), Documents: known(9), Duration: known(90)}}}}}
	run.Steps[0].Events = counts(
		bson.D{{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(7)}, {Key: "clonedBytes", Value: int64(700)}}}},
	)
	added := run.Steps[0]
	added.Min, added.Events = at(
		20,
	), counts(
		bson.D{{Key: "counts", Value: bson.D{{Key: "cloned", Value: int64(3)}, {Key: "clonedBytes", Value: int64(300)}}}},
	)
	run.Steps = append(run.Steps, added)
	c := CostOf(p, run)
	if c.Moved != 2 || c.Total.Actual.Documents.Value != 10 || c.Total.Actual.Bytes.Value != 1000 || c.Total.Actual.Millis.Value != 38_000 ||
		c.Total.Estimated.Bytes.Value != 900 {
		t.Errorf("%+v", c.Total)
	}
	if s := c.Steps[1].Estimated.Bytes; s.Known || s.Reason != reasonNotIn || !c.Steps[0].Estimated.Bytes.Known {
		t.Errorf("a step that was not in the plan is estimated: %+v", s)
	}
	run.Steps[1].Events = counts(bson.D{{Key: "from", Value: "a"}})
	if c := CostOf(p, run); c.Total.Actual.Bytes.Known || c.Total.Actual.Bytes.Reason != reasonNoEntry || !c.Total.Actual.Millis.Known {
		t.Errorf("a sum of what is not known: %+v", c.Total.Actual)
	}
	run.Steps[0].State, run.Steps[1].State = engine.Failed, engine.Planned
	if c := CostOf(p, run); c.Moved != 0 || c.Total.Actual.Bytes.Known || c.Steps[0].Actual.Millis.Known {
		t.Errorf("a move that failed has copied something: %+v", c)
	}
}
