package outcome

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/heat"
	"shardboard/internal/profile"
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
		if o.State != Measured || o.Verdict != Helped || o.After.Covered != 600 || o.Before.Hottest != "a" {
			t.Errorf("%+v", o)
		}
		if row := r.rows["r"]; row.Open {
			t.Error("it is still open in the store")
		}
		saved := r.saves
		r.countWrites(2*time.Minute, 1, 1, 1)
		if r.saves != saved || len(r.active) != 0 {
			t.Errorf("%d saves after the measurement has ended", r.saves-saved)
		}
	})
}

func TestStepAddedDuringARunIsMeasured(t *testing.T) {
	withRecorder(t, func(r *recorderTest) {
		r.countWrites(11*time.Minute, 30, 20, 10)
		run := r.beginRun("r")
		r.countWrites(time.Minute, 30, 20, 10)
		run.Steps = append(
			slices.Clone(run.Steps),
			engine.Step{Step: operation.Step{Op: operation.OpMove, NS: ns, Min: minKey(), Max: keyAt(0), Shard: "b"},
				State: engine.Succeeded, Sent: time.Now(), Ended: time.Now()},
		)
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
		if row := r.rows["left"]; row.Open {
			t.Error("still open hours later")
		}
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
