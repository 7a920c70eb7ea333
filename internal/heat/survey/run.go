package survey

import (
	"context"
	"runtime/debug"
	"sync"
	"time"

	"shardboard/internal/fault"
)

// Run runs the queued surveys, and resumes those of an earlier process, until ctx ends. A running
// survey is then left to be resumed.
//
// While another process leads, it only reads what that one measures.
func (e *Engine) Run(ctx context.Context) error {
	l, shared := e.o.Store.(leadership)
	if !shared {
		return e.lead(ctx)
	}
	var following sync.WaitGroup
	defer following.Wait()
	following.Go(func() { e.follow(ctx, l) })
	again := false
	return l.Lead(ctx, func(ctx context.Context) error {
		if again { // another process may have measured since
			e.forget()
		}
		again = true
		return e.lead(ctx)
	})
}

func (e *Engine) lead(ctx context.Context) error {
	failed := false
	for {
		err := e.load(ctx)
		if err != nil && !failed && ctx.Err() == nil { // retried every second, logged once
			e.o.Log.Warn("read surveys", "err", err)
		}
		failed = err != nil
		if j, own := e.next(ctx); j != nil {
			e.runJob(own, ctx, j)
			continue
		}
		timer := time.NewTimer(time.Second) // there is no notification about an unloaded table
		if e.ready() {
			timer.Reset(time.Hour)
		}
		select {
		case <-ctx.Done():
			timer.Stop()
			return nil
		case <-e.wake:
		case <-timer.C:
		}
		timer.Stop()
	}
}

func (e *Engine) ready() bool {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return e.loaded
}

// leads is false when another process runs the surveys.
func (e *Engine) leads() bool {
	l, shared := e.o.Store.(leadership)
	return !shared || l.Leads()
}

// next returns the survey to run.
func (e *Engine) next(ctx context.Context) (*job, context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.loaded || !e.leads() || ctx.Err() != nil {
		return nil, nil
	}
	line := e.queue()
	if len(line) == 0 {
		return nil, nil
	}
	best := line[0]
	own, cancel := context.WithCancel(ctx)
	now := e.o.Now().UTC()
	best.State, best.cancel = Running, cancel
	if best.Started.IsZero() {
		best.Started = now
	}
	best.passStart, best.activeBefore, best.doneBefore = now, best.Progress.Active, best.Progress.Done
	return best, own
}

// runJob makes steps until the survey ends or a more urgent one interrupts it.
func (e *Engine) runJob(own, run context.Context, j *job) {
	defer j.cancel()
	r := &Reader{src: e.src, tables: e.tables, budget: e.o.Budget, now: e.o.Now, rate: float64(e.o.PerSecond),
		onPaced:    func(paced bool) { e.update(func() { j.Progress.PacedDown = paced }) },
		onReturned: func(n int) { e.update(func() { j.Progress.Returned += int64(n) }) },
	}
	var err error
	for done := false; !done && err == nil; {
		if done, err = e.step(own, run, r, j); !done && err == nil && e.yield(run, j) {
			return
		}
	}
	if run.Err() != nil {
		e.update(func() { j.cancel = nil }) // the program ends; the next process resumes
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(run), readTimeout)
	defer cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	result, resultErr := e.result(j)
	if err == nil {
		err = resultErr
	}
	j.Ended, j.Progress.Left, j.Progress.PacedDown = e.o.Now().UTC(), -1, false
	j.result, j.cancel = result, nil
	switch {
	case j.stop != nil:
		j.State = Stopped
	case err != nil:
		j.State, j.Problem = Failed, fault.Brief(err) // viewers can read it too
		e.o.Log.Warn("survey", "kind", string(j.Request.Kind), "err", err)
	default:
		j.State = Done
	}
	if err := e.save(end, j, j.stop...); err != nil {
		e.o.Log.Warn("store a survey's result", "err", err)
	}
	j.work = nil
}

// step makes one step and stores the progress. A panic ends only the survey: what caused it is in
// the store and would crash the program again after each restart.
func (e *Engine) step(own, run context.Context, r *Reader, j *job) (done bool, err error) {
	defer func() {
		if defect := recover(); defect != nil {
			done, err = false, e.panicError(j, defect)
		}
	}()
	done, err = j.work.step(own, r)
	e.update(func() { j.updateProgress(e.o) })
	if saved := e.storeProgress(run, j, done || err != nil); err == nil {
		err = saved
	}
	return done, err
}

// result returns the measurements at the end; nil if that panics.
func (e *Engine) result(j *job) (result *Result, err error) {
	defer func() {
		if defect := recover(); defect != nil {
			result, err = nil, e.panicError(j, defect)
		}
	}()
	found := j.work.result(e.tables.Table())
	return &found, nil
}

func (e *Engine) panicError(j *job, what any) error {
	e.o.Log.Error("a survey panicked", "survey", j.ID, "kind", string(j.Request.Kind), "defect", what, "stack", string(debug.Stack()))
	return fault.New(
		fault.Internal,
		"The survey ended because of a bug in shardboard; the log has the details. A new survey starts from the beginning.",
	)
}

func (e *Engine) update(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// updateProgress updates the progress; the caller holds the lock.
func (j *job) updateProgress(o Options) {
	p := &j.Progress
	p.Done, p.Total = j.work.progress()
	if !j.passStart.IsZero() {
		p.Active = j.activeBefore + o.Now().Sub(j.passStart)
	}
	p.Left = -1
	if p.Total < 0 {
		return
	}
	rest := max(0, p.Total-p.Done)
	pace := float64(o.PerSecond)
	if read, took := p.Done-j.doneBefore, p.Active-j.activeBefore; read > 0 && took > time.Second {
		pace = min(pace, float64(read)/took.Seconds())
	}
	p.Left = time.Duration(float64(rest) / pace * float64(time.Second))
}
