package engine

import (
	"strings"

	"shardboard/internal/message"
)

// execute runs all steps in sequence.
func (x *execution) execute() {
	if x.current().IsBatch() {
		x.runBatch()
		return
	}
	x.countBefore() // needs no lock
	lock := x.request(pauseClaims(x.e.opts.Tables.Table(), x.current().Steps))
	defer lock.release()
	if !x.waitForLocks(lock) {
		return
	}
	x.runSteps(0)
}

// runSteps runs the steps from the given index and ends the run.
func (x *execution) runSteps(from int) {
	for i := from; ; i++ {
		if x.stopRequested() {
			x.endRun(Stopped, x.stopReason())
			return
		}
		if i >= firstRestore(x.current().Steps) {
			more, ok := x.checkGoal()
			if !ok {
				return
			}
			if !more {
				break
			}
		}
		if !x.runStep(i) {
			return
		}
		switch s := x.current().Steps[i]; s.State {
		case Succeeded, Deferred, Replaced:
		default:
			x.endRun(s.State, s.Why)
			return
		}
	}
	x.endRun(Succeeded, message.Message{})
}

// request asks for claims of the run.
func (x *execution) request(claims []claim) *lockRequest { return x.e.locks.request(x.id, claims) }

// waitForLocks waits for a lock request and shows which run is in the way. It
// returns false when the run or the process ended instead.
func (x *execution) waitForLocks(lock *lockRequest) bool {
	select {
	case <-lock.granted:
		return true
	case <-x.ctx.Done():
		return false
	default:
	}
	what, run := lock.blocker()
	was := x.current().State
	if !x.persist(func(r *Run) { r.State, r.Why = Waiting, what.text(x.e.opts.Tables.Table(), run) }) {
		return false
	}
	select {
	case <-lock.granted:
		return x.persist(func(r *Run) { r.State, r.Why = was, message.Message{} })
	case <-x.stopSignal:
		x.endRun(Stopped, x.stopReason())
	case <-x.ctx.Done():
	}
	return false
}

// BlockedBy is the run that has what the run waits for; "" when it does not wait for another run.
func (r Run) BlockedBy() string {
	if r.State != Waiting || !strings.HasPrefix(r.Why.Code, "run.waiting") {
		return ""
	}
	return r.Why.Args()["run"]
}

func (x *execution) stopReason() message.Message {
	r := x.current()
	return message.New("run.stopped", "Stopped by {by} at {at}.", message.Text("by", r.StopBy), message.Time("at", r.StopAt))
}
