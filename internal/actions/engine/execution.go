package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"shardboard/internal/clock"
)

// execution is a run that this process has open. The goroutine of the run and Stop
// both change it, each its own fields. Every change is applied twice: to the run
// that is saved and to the run in memory.
type execution struct {
	e    *Engine
	term *term
	ctx  context.Context // ends with the lead under which the run began here; what is written with it is fenced
	id   string

	mu          sync.Mutex
	run         Run
	stopSignal  chan struct{}  // closed when the run is asked to stop
	writeSlot   chan struct{}  // held while the run is saved, instead of mu: readers do not wait for a slow disk
	stopClaimed bool           // a request to stop is being saved
	deletions   []deletion     // commands of ended steps that have not been answered
	pending     *pendingChange // is saved with the next write, by Stop or the run itself

	wake chan struct{} // of a batch: somebody paused or resumed it, or decided about an item
	done chan struct{} // closed when the goroutine of the run has ended
}

func newExecution(e *Engine, t *term, run Run) *execution {
	x := &execution{e: e, term: t, ctx: t.ctx, id: run.ID, run: run, stopSignal: make(chan struct{}), writeSlot: make(chan struct{}, 1),
		wake: make(chan struct{}, 1), done: make(chan struct{})}
	if run.StopBy != "" {
		close(x.stopSignal)
	}
	return x
}

// asLeader is a context for what somebody asked for: it ends with asked and with the
// lead, and what is written with it is fenced.
func asLeader(leading, asked context.Context) (context.Context, context.CancelFunc) {
	ctx, cancel := context.WithCancel(leading)
	stop := context.AfterFunc(asked, cancel)
	return ctx, func() { stop(); cancel() }
}

// current returns a copy of the run.
func (x *execution) current() Run {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.run
	r.Steps = slices.Clone(r.Steps)
	return r
}

func (x *execution) stopRequested() bool {
	select {
	case <-x.stopSignal:
		return true
	default:
		return false
	}
}

// newStopSignal is closed when the run is asked to stop. It is nil, which blocks for
// ever, when that has already happened: what was done by then is still counted and
// restored.
func (x *execution) newStopSignal() <-chan struct{} {
	if x.stopRequested() {
		return nil
	}
	return x.stopSignal
}

// updateMemory changes the run in memory only, for information that may be lost in a
// crash.
func (x *execution) updateMemory(change func(*Run)) {
	x.mu.Lock()
	x.run = x.with(change)
	x.mu.Unlock()
	x.e.subscribers.Notify()
}

// with returns the run after a change. The caller holds mu.
func (x *execution) with(change func(*Run)) Run {
	r := x.run
	r.Steps = slices.Clone(r.Steps)
	change(&r)
	r.Seq++
	return r
}

// sleep returns false when the process ends.
func (x *execution) sleep(d time.Duration) bool { return clock.Sleep(x.ctx, d) == nil }
