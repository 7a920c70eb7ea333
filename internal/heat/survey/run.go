package survey

import (
	"context"
	"runtime/debug"
	"time"

	"shardboard/internal/fault"
)

// Run carries out what was started, and goes on with what an earlier process
// left, until ctx ends. What is then under way stays to be gone on with.
func (e *Engine) Run(ctx context.Context) error {
	failed := false
	for {
		err := e.load(ctx)
		if err != nil && !failed { // it is tried every second
			e.o.Log.Warn("surveys cannot be read", "err", err)
		}
		failed = err != nil
		if j, own := e.next(ctx); j != nil {
			e.carryOut(own, ctx, j)
			continue
		}
		timer := time.NewTimer(time.Second) // a table that is not loaded wakes nobody
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

// owns is false when another process carries out what the store has.
func (e *Engine) owns() bool {
	o, ok := e.o.Store.(interface{ Owner() bool })
	return !ok || o.Owner()
}

// next takes the survey whose turn it is.
func (e *Engine) next(ctx context.Context) (*job, context.Context) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.loaded || !e.owns() || ctx.Err() != nil {
		return nil, nil
	}
	line := e.line()
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
	best.since, best.before, best.from = now, best.Progress.Active, best.Progress.Done
	return best, own
}

// carryOut takes steps until the survey ends, or stands back for one that goes
// first.
func (e *Engine) carryOut(own, run context.Context, j *job) {
	defer j.cancel()
	r := &reading{src: e.src, tables: e.tables, budget: e.o.Budget, now: e.o.Now, rate: float64(e.o.PerSecond),
		paced: func(paced bool) { e.update(func() { j.Progress.PacedDown = paced }) },
		count: func(n int) { e.update(func() { j.Progress.Returned += int64(n) }) },
	}
	var err error
	for done := false; !done && err == nil; {
		if done, err = e.step(own, run, r, j); !done && err == nil && e.standBack(run, j) {
			return
		}
	}
	if run.Err() != nil {
		e.update(func() { j.cancel = nil }) // the program ends: the next one goes on
		return
	}
	end, cancel := context.WithTimeout(context.WithoutCancel(run), patience)
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
		j.State, j.Problem = Failed, fault.Brief(err) // viewers read it too
		e.o.Log.Warn("survey", "kind", string(j.Request.Kind), "err", err)
	default:
		j.State = Done
	}
	if err := e.save(end, j, j.stop...); err != nil {
		e.o.Log.Warn("a survey's result cannot be kept", "err", err)
	}
	j.work = nil
}

// step takes one step and keeps what it brought. A defect ends the survey, not
// the program: what it stumbled over is in the store, and would be there again
// after each restart.
func (e *Engine) step(own, run context.Context, r *reading, j *job) (done bool, err error) {
	defer func() {
		if defect := recover(); defect != nil {
			done, err = false, e.defect(j, defect)
		}
	}()
	done, err = j.work.step(own, r)
	e.update(func() { j.measure(e.o) })
	if saved := e.note(run, j, done || err != nil); err == nil {
		err = saved
	}
	return done, err
}

// result is what is known at the end; nil when that cannot be told.
func (e *Engine) result(j *job) (result *Result, err error) {
	defer func() {
		if defect := recover(); defect != nil {
			result, err = nil, e.defect(j, defect)
		}
	}()
	found := j.work.result(e.tables.Table())
	return &found, nil
}

func (e *Engine) defect(j *job, what any) error {
	e.o.Log.Error("a survey met a defect", "survey", j.ID, "kind", string(j.Request.Kind), "defect", what, "stack", string(debug.Stack()))
	return fault.New(fault.Internal, "Measuring met a defect of shardboard and has ended; the log tells where. A new survey begins afresh.")
}

func (e *Engine) update(f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	f()
}

// measure brings the progress up to date; the caller holds the lock.
func (j *job) measure(o Options) {
	p := &j.Progress
	p.Done, p.Total = j.work.progress()
	if !j.since.IsZero() {
		p.Active = j.before + o.Now().Sub(j.since)
	}
	p.Left = -1
	if p.Total < 0 {
		return
	}
	rest := max(0, p.Total-p.Done)
	pace := float64(o.PerSecond)
	if read, took := p.Done-j.from, p.Active-j.before; read > 0 && took > time.Second {
		pace = min(pace, float64(read)/took.Seconds())
	}
	p.Left = time.Duration(float64(rest) / pace * float64(time.Second))
}
