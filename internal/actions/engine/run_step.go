package engine

import (
	"context"
	"errors"
	"fmt"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// runStep runs one step until its end is on disk. It returns false when the run has
// ended here or the process ends.
func (x *execution) runStep(i int) bool {
	s := x.current().Steps[i]
	if !s.Sends() {
		return x.awaitProof(i)
	}
	if !x.foreseeOrphans(i) {
		return false
	}
	if !x.foreseeDeletion(i) {
		return false
	}
	if taken, ok := x.takeOther(i); taken || !ok {
		return ok
	}
	if reordered, ok := x.readyFirst(i); reordered || !ok {
		return ok && x.runStep(i)
	}
	if try, ok := x.waitForObstacle(i); !try {
		return ok
	}
	lock := x.request(claimsOf(x.e.opts.Tables.Table(), s.Step))
	defer lock.release() // when its outcome is known
	if !x.waitForLocks(lock) {
		return false
	}
	if proof, done := x.alreadyDone(s); done {
		return x.endAlreadyDone(i, proof)
	}
	if err := x.writeIntent(i, s.Command); err != nil {
		return x.endStep(i, intentFailed(err))
	}
	if x.stopRequested() { // while the intent was written
		return x.endStopped(i)
	}
	readings, different, err := x.readPreconditions(s.Step)
	switch {
	case x.ctx.Err() != nil:
		return false
	case err != nil:
		return x.endStep(i, preconditionsUnread(readings, err))
	case len(different) > 0:
		if proof, done := x.alreadyDone(s); done {
			return x.endAlreadyDone(i, proof) // somebody made the change since the last look
		}
		if x.current().canAdapt() {
			return x.replan(i, readings, different)
		}
		return x.endStep(i, preconditionsDiffer(readings, different))
	case x.stopRequested():
		return x.endStopped(i)
	}
	if err := x.confirmLead(); err != nil {
		return x.endStep(i, intentFailed(err))
	}
	// Nothing may be written or read between this check and the command.
	err = x.send(i, s.Step, s.Command)
	if errors.Is(err, store.ErrNotLeading) {
		return x.endStep(i, intentFailed(err))
	}
	if x.ctx.Err() != nil && fault.Of(err) == fault.UnknownOutcome {
		return false // we are shutting down; the next process resolves the outcome
	}
	x.updateMemory(func(r *Run) { r.Steps[i].Before = readings })
	if a := classifyAnswer(err); a != committed {
		return x.resolveOutcome(i, a, err)
	}
	return x.resolveOutcome(i, committed, nil)
}

// writeIntent saves that the command of a step is about to be sent, and then the new
// state of the run.
func (x *execution) writeIntent(i int, c operation.Command) error {
	at := x.e.now()
	ctx, cancel := context.WithTimeout(x.ctx, saveTimeout)
	defer cancel()
	err := x.e.opts.Journal.AddIntent(ctx, store.IntentRecord{Run: x.id, Step: i, At: at, DB: c.DB, Command: c.Doc})
	if err != nil {
		return fmt.Errorf("write intent: %w", err)
	}
	return x.save(x.ctx, func(r *Run) {
		r.State, r.Why = Running, message.Message{}
		r.Steps[i].State, r.Steps[i].Sent = Running, at
	})
}
