package outcome

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// recorderTest is a running recorder and a collection whose rows are appended.
type recorderTest struct {
	*testing.T
	*fakes
	*Recorder
	c   *topology.Collection
	end func()
}

func withRecorder(t *testing.T, test func(r *recorderTest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := collection(t, []int64{0, 10}, "a", "a", "b")
		r := &recorderTest{T: t, fakes: newFakes(c), c: c}
		r.start()
		defer func() { r.end() }()
		test(r)
	})
}

func (r *recorderTest) start() {
	prof := &profile.Profile{Layouts: []profile.Layout{{Collections: []profile.Collection{{Name: "rows", Appended: true}}}}}
	r.Recorder = New(Options{Runs: fakeRuns{r.fakes}, Tables: r.fakes, Profile: prof, Store: r.fakes})
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	rec := r.Recorder
	go func() { defer close(done); _ = rec.Run(ctx) }()
	r.end = func() { cancel(); <-done }
	synctest.Wait()
}

// countWrites passes time in which each ten seconds have the given rows by chunk.
func (r *recorderTest) countWrites(d time.Duration, rows ...int64) {
	for range int(d / heat.Tick) {
		from := time.Now().Truncate(heat.Tick)
		time.Sleep(time.Until(from.Add(heat.Tick + 3*time.Second)))
		s := tenSeconds(r.c, from, rows...)
		r.Take(s.slot)
		time.Sleep(time.Until(from.Add(heat.Tick + 5*time.Second)))
		synctest.Wait()
	}
}

func (r *recorderTest) beginRun(id string) engine.Run {
	run := endedRun(actions.MoveChunk, operation.OpMove, keyAt(0), keyAt(10), "b")
	run.ID, run.Started, run.Ended, run.State = id, time.Now(), time.Time{}, engine.Running
	run.Steps[0].State, run.Steps[0].Sent, run.Steps[0].Ended = engine.Running, time.Now(), time.Time{}
	r.setRun(run)
	return run
}

func (r *recorderTest) endRun(run engine.Run) engine.Run {
	run.Ended, run.State = time.Now(), engine.Succeeded
	run.Steps = slices.Clone(run.Steps)
	run.Steps[0].State, run.Steps[0].Ended = engine.Succeeded, time.Now()
	r.setRun(run)
	return run
}

func (r *recorderTest) outcome(run engine.Run) Outcome {
	r.Helper()
	o, err := r.Of(r.Context(), run)
	must.Do(r, err)
	return o
}

func TestRunIsMeasuredBeforeItsStartAndAfterItsEnd(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(12*time.Minute, 30, 20, 10)
		run := r.beginRun("r")
		if o := r.outcome(run); o.State != Running || o.Before.Covered != 590 && o.Before.Covered != 600 {
			t.Errorf("%s, %v s", o.State, o.Before.Covered)
		}
		r.countWrites(3*time.Minute, 30, 20, 10) // during the run, in no window
		r.c = collection(t, []int64{0, 10}, "a", "b", "b")
		r.fakes.mu.Lock()
		r.table = &topology.Table{ClusterID: "c", Loaded: true, Collections: []*topology.Collection{r.c}}
		r.fakes.mu.Unlock()
		run = r.endRun(run)
		r.countWrites(time.Minute, 30, 20, 10)
		if o := r.outcome(run); o.State != TooEarly || o.Verdict != "" {
			t.Errorf("%s, %s", o.State, o.Verdict)
		}
		r.countWrites(8*time.Minute, 30, 20, 10)
		if o := r.outcome(run); o.State != SoFar || o.Verdict != Helped || o.Before.Covered != 600 {
			t.Errorf("%s, %s, %v s", o.State, o.Verdict, o.Before.Covered)
		}
		told, end := r.Recorder.Subscribe()
		defer end()
		r.countWrites(3*time.Minute, 30, 20, 10)
		select {
		case <-told:
		default:
			t.Error("no notification")
		}
		o := r.outcome(run)
		expect.That(t, o.State == Measured && o.Verdict == Helped && o.After.Covered == 600 && o.Before.Hottest == "a",
			"%+v", o)
		expect.That(t, !r.rows["r"].Open, "it is still open in the store")
		saved := r.saves
		r.countWrites(2*time.Minute, 1, 1, 1)
		expect.That(t, r.saves == saved && len(r.active) == 0, "%d saves after the measurement has ended", r.saves-saved)
	})
}

func TestStepAddedDuringARunIsMeasured(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(11*time.Minute, 30, 20, 10)
		run := r.beginRun("r")
		r.countWrites(time.Minute, 30, 20, 10)
		run.Steps = append(slices.Clone(run.Steps),
			engine.Step{Step: operation.Step{Op: operation.OpMove, NS: ns, Min: minKey(), Max: keyAt(0), Shard: "b"},
				State: engine.Succeeded, Sent: time.Now(), Ended: time.Now()})
		r.setRun(run)
		run = r.endRun(run)
		r.countWrites(13*time.Minute, 30, 20, 10)
		o := r.outcome(run)
		if o.State != Measured || len(o.Chunks) != 2 || o.Chunks[0].Before == nil || o.Chunks[0].Before.PerSecond != 3 {
			t.Errorf("%s %+v", o.State, o.Chunks)
		}
	})
}

func TestFailedSaveIsRepeated(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(11*time.Minute, 30, 20, 10)
		r.fakes.mu.Lock()
		r.fail = errors.New("disk full")
		r.fakes.mu.Unlock()
		run := r.endRun(r.beginRun("r"))
		r.countWrites(13*time.Minute, 10, 20, 10)
		expect.Equal(t, r.outcome(run).State, Measured, "while the disk is full")
		r.fakes.mu.Lock()
		r.fail = nil
		r.fakes.mu.Unlock()
		r.countWrites(time.Minute, 10, 20, 10)
		r.end()
		r.start()
		if o := r.outcome(run); o.State != Measured || o.Before.Covered != 600 || o.After.Covered != 600 {
			t.Errorf("%+v", o)
		}
	})
}

func TestUncountedTimeIsAGapAndDoesNotKeepTheMeasurementOpen(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(11*time.Minute, 30, 20, 10)
		run := r.endRun(r.beginRun("r"))
		time.Sleep(12 * time.Minute)
		synctest.Wait()
		o := r.outcome(run)
		if o.State != Uncounted || o.Reason != reasonGap || o.Collections[0].CoveredBefore != 600 || o.Collections[0].After != nil {
			t.Errorf("%s %s %+v", o.State, o.Reason, o.Collections)
		}
		// A process that starts hours later closes an open measurement.
		left := r.endRun(r.beginRun("left"))
		r.end()
		time.Sleep(3 * time.Hour)
		r.start()
		expect.That(t, !r.rows["left"].Open, "still open hours later")
		if o := r.outcome(left); o.State != Uncounted {
			t.Errorf("%s", o.State)
		}
	})
}

func TestRunThatFailedWithoutAnEffectIsNotMeasured(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(2*time.Minute, 30, 20, 10)
		run := r.beginRun("r")
		run.State, run.Ended, run.Steps = engine.Failed, time.Now(), slices.Clone(run.Steps)
		run.Steps[0].State = engine.Failed
		r.setRun(run)
		if o := r.outcome(run); o.State != Unchanged || len(r.active) != 0 {
			t.Errorf("%s, %d active", o.State, len(r.active))
		}
	})
}

// fakes are an engine, a table and a store in memory.
type fakes struct {
	mu         sync.Mutex
	runs       []engine.Run // newest first
	table      *topology.Table
	rows       map[string]store.RunOutcome
	fail       error
	runChanged chan struct{}
	noTables   chan struct{}
	saves      int
}

func newFakes(c *topology.Collection) *fakes {
	return &fakes{table: &topology.Table{ClusterID: "c", Loaded: true, Collections: []*topology.Collection{c}},
		rows: map[string]store.RunOutcome{}, runChanged: make(chan struct{}, 1), noTables: make(chan struct{})}
}

func (w *fakes) Runs(_ context.Context, _ string, limit int) ([]engine.Run, string, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.runs[:min(limit, len(w.runs))]), "", nil
}

func (w *fakes) RunByID(_ context.Context, id string) (engine.Run, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.runs {
		if r.ID == id {
			return r, nil
		}
	}
	return engine.Run{}, fault.New(fault.NotFound, "none")
}

// fakeRuns gives the fakes the Subscribe method of Runs; Tables has one as well.
type fakeRuns struct{ *fakes }

func (w fakeRuns) Subscribe() (<-chan struct{}, func()) { return w.runChanged, func() {} }

func (w *fakes) Table() *topology.Table {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.table
}

func (w *fakes) Subscribe() (*topology.Table, <-chan struct{}, func()) {
	return w.Table(), w.noTables, func() {}
}

func (w *fakes) SaveRunOutcome(_ context.Context, _ string, o store.RunOutcome) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.fail != nil {
		return w.fail
	}
	w.rows[o.Run], w.saves = o, w.saves+1
	return nil
}

func (w *fakes) RunOutcome(_ context.Context, _, run string) (store.RunOutcome, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if o, ok := w.rows[run]; ok {
		return o, nil
	}
	return store.RunOutcome{}, fault.New(fault.NotFound, "none")
}

func (w *fakes) OpenRunOutcomes(context.Context, string) (out []store.RunOutcome, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, o := range w.rows {
		if o.Open {
			out = append(out, o)
		}
	}
	return out, w.fail
}

// setRun adds or replaces a run and notifies the recorder.
func (w *fakes) setRun(r engine.Run) {
	w.mu.Lock()
	i := slices.IndexFunc(w.runs, func(o engine.Run) bool { return o.ID == r.ID })
	if i < 0 {
		w.runs = slices.Insert(w.runs, 0, r)
	} else {
		w.runs[i] = r
	}
	w.mu.Unlock()
	select {
	case w.runChanged <- struct{}{}:
	default:
	}
	synctest.Wait()
}
