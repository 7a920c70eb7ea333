package engine

import (
	"context"
	"slices"
	"sync"
	"time"

	"shardboard/internal/message"
)

// execution is an open run of this process. Its goroutine and Stop change it,
// each its own fields: a change is applied once to what is written and once to
// what is shown.
type execution struct {
	e  *Engine
	id string

	mu      sync.Mutex
	run     Run
	stop    chan struct{} // closed when somebody asked to stop
	writing chan struct{} // held while the run is written: disks may be slow, and readers do not wait for them
	halting bool          // somebody is about to
	owed    *result       // goes to disk with the next write, whoever writes
}

// result is what happened and is not known to be on disk.
type result struct{ change func(*Run) }

func newExecution(e *Engine, run Run) *execution {
	x := &execution{e: e, id: run.ID, run: run, stop: make(chan struct{}), writing: make(chan struct{}, 1)}
	if run.StopBy != "" {
		close(x.stop)
	}
	return x
}

// now is the run as it is.
func (x *execution) now() Run {
	x.mu.Lock()
	defer x.mu.Unlock()
	r := x.run
	r.Steps = slices.Clone(r.Steps)
	return r
}

func (x *execution) stopping() bool {
	select {
	case <-x.stop:
		return true
	default:
		return false
	}
}

// show changes the run in memory only: for what is no loss after a crash.
func (x *execution) show(change func(*Run)) {
	x.mu.Lock()
	x.run = x.changed(change)
	x.mu.Unlock()
	x.e.subscribers.Notify()
}

// changed is the run after a change. The caller holds mu.
func (x *execution) changed(change func(*Run)) Run {
	r := x.run
	r.Steps = slices.Clone(r.Steps)
	change(&r)
	r.Seq++
	return r
}

// save changes the run on disk and then in memory; after an error neither, as far
// as is known. What is owed goes along, so that nothing is written that is older
// than what an earlier write may have left.
func (x *execution) save(ctx context.Context, change func(*Run)) error {
	ctx, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	select {
	case x.writing <- struct{}{}:
		defer func() { <-x.writing }()
	case <-ctx.Done():
		return ctx.Err()
	}
	x.mu.Lock()
	owed, all := x.owed, change
	if owed != nil {
		all = func(r *Run) { owed.change(r); change(r) }
	}
	r := x.changed(all)
	x.mu.Unlock()
	record, err := runRecord(r)
	if err != nil {
		return err
	}
	if err := x.e.o.Journal.SaveRun(ctx, record); err != nil {
		return err
	}
	x.mu.Lock()
	if x.owed == owed {
		x.owed = nil
	}
	x.mu.Unlock()
	x.show(all)
	return nil
}

const (
	saveTime   = 10 * time.Second
	saveAgain  = time.Second      // first pause after a result could not be kept
	saveLonger = 10 * time.Second // longest
)

// keep saves what happened, again and again until it is on disk: until then the
// run does not go on and says why. False at the end of the process, which
// leaves it open for the next one. Only the goroutine of the run keeps.
func (x *execution) keep(change func(*Run)) bool {
	mine := &result{change}
	x.owe(mine)
	for pause := saveAgain; x.owes(mine); pause = min(2*pause, saveLonger) {
		err := x.save(x.e.life, func(*Run) {})
		if err == nil {
			return true
		}
		x.e.o.Log.Error("save run", "run", x.id, "err", err)
		x.show(func(r *Run) { r.Why = runUnsaved })
		if !x.pause(pause) {
			return false
		}
	}
	return true
}

func (x *execution) owe(r *result) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.owed = r
}

func (x *execution) owes(r *result) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.owed == r
}

// pause waits; false at the end of the process.
func (x *execution) pause(d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-x.e.life.Done():
		return false
	}
}

// main runs the steps one after the other.
func (x *execution) main() {
	keys := x.e.locks.request(x.id, keysOf(x.now().Steps))
	defer keys.release()
	x.countBefore() // meanwhile others may have the keys
	if !x.wait(keys) {
		return
	}
	x.goOn(0)
}

// goOn runs the steps from the given one.
func (x *execution) goOn(from int) {
	for i := from; ; i++ {
		if x.stopping() {
			x.end(Stopped, x.stoppedBy())
			return
		}
		if i >= tail(x.now().Steps) {
			more, ok := x.missed()
			if !ok {
				return
			}
			if !more {
				break
			}
		}
		if !x.step(i) {
			return
		}
		switch s := x.now().Steps[i]; s.State {
		case Succeeded, Deferred, Replaced:
		default:
			x.end(s.State, s.Why)
			return
		}
	}
	x.end(Succeeded, message.Message{})
}

func (x *execution) stoppedBy() message.Message {
	r := x.now()
	return message.New("run.stopped", "Stopped by {by} at {at}.", message.Text("by", r.StopBy), message.Time("at", r.StopAt))
}

// wait waits for keys, visibly. False when the run has ended instead, or the
// process does.
func (x *execution) wait(t *lockRequest) bool {
	select {
	case <-t.granted:
		return true
	case <-x.e.life.Done():
		return false
	default:
	}
	key, run := t.blocker()
	was := x.now().State
	if !x.keep(func(r *Run) {
		r.State, r.Why = Waiting, message.New(
			"run.waiting",
			"Waits for {for}, which the run {run} is using.",
			message.Text("for", key),
			message.Text("run", run),
		)
	}) {
		return false
	}
	select {
	case <-t.granted:
		return x.keep(func(r *Run) { r.State, r.Why = was, message.Message{} })
	case <-x.stop:
		x.end(Stopped, x.stoppedBy())
	case <-x.e.life.Done():
	}
	return false
}
