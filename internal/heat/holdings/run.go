package holdings

import (
	"context"
	"runtime/debug"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/topology"
)

const (
	idle        = time.Second      // between looks for something to read
	standbyIdle = 5 * time.Second  // between looks whether this process leads
	standbyRead = time.Minute      // between reads of what another process stored
	saveTimeout = 10 * time.Second // of the last save
)

// Run measures until ctx ends.
func (e *Engine) Run(ctx context.Context) error {
	if e.o.PerMinute < 0 {
		<-ctx.Done()
		return nil
	}
	failed := false
	for ctx.Err() == nil {
		pause, err := e.turn(ctx)
		if err != nil && !failed && ctx.Err() == nil { // retried, logged once
			e.o.Log.Warn("estimate what projects hold on shards", "err", err)
		}
		failed = err != nil
		_ = clock.Sleep(ctx, pause)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
	defer cancel()
	if err := e.saveAll(ctx); err != nil {
		e.o.Log.Warn("store what projects hold on shards", "err", err)
	}
	return nil
}

// turn does what is due and returns how long to wait.
func (e *Engine) turn(ctx context.Context) (time.Duration, error) {
	t := e.tables.Table()
	if t == nil || !t.Loaded {
		return idle, nil
	}
	e.follow(ctx, t)
	if !e.leads() {
		e.update(func() { e.state = Standby })
		if e.standby && e.o.Now().Sub(e.readAt) < standbyRead {
			return standbyIdle, nil
		}
		e.standby, e.readAt = true, e.o.Now()
		return standbyIdle, e.load(ctx, t)
	}
	if e.standby || !e.isLoaded() {
		if err := e.load(ctx, t); err != nil {
			return idle, err
		}
		e.standby = false
	}
	f := e.next(t)
	if f == nil {
		e.update(func() { e.state = e.idleState(t) })
		return idle, e.saveDue(ctx)
	}
	e.update(func() { e.state = Measuring })
	if err := clock.Sleep(ctx, e.pace.wait()); err != nil {
		return 0, nil
	}
	e.step(ctx, e.tables.Table(), f)
	return 0, e.saveDue(ctx)
}

// idleState is the state while nothing is due; the caller holds the lock.
func (e *Engine) idleState(t *topology.Table) State {
	measured, denied := 0, 0
	for _, f := range e.followed {
		if f.sample != nil {
			measured++
		}
		if f.reason == "notPermitted" || f.sample == nil && unknownReason(t, f) == "notPermitted" {
			denied++
		}
	}
	switch {
	case len(e.followed) == 0:
		return Nothing
	case denied == len(e.followed):
		return Denied
	case measured == 0:
		return Waiting
	}
	return Measuring
}

// step makes one read of a collection. A panic concerns only this one.
func (e *Engine) step(ctx context.Context, t *topology.Table, f *followed) {
	defer func() {
		if defect := recover(); defect != nil {
			e.o.Log.Error("estimating what projects hold panicked", "ns", string(f.target.NS), "defect", defect, "stack", string(debug.Stack()))
			e.update(func() { f.retry = e.o.Now().Add(retryAfter) })
		}
	}()
	e.pace.begin()
	s, read, err := e.read(ctx, t, f)
	e.pace.add(max(read, minDocuments))
	if ctx.Err() != nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	f.tried = e.o.Now()
	if err != nil {
		e.fail(f, err)
		return
	}
	if f.reason, f.problem = "", ""; s != f.sample {
		f.sample = s
		e.seq++
	}
}
