package engine

import (
	"errors"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// The pause between two attempts to restore balancing.
const (
	restoreRetryMin = 2 * time.Second
	restoreRetryMax = 30 * time.Second
)

// restoreBalancing switches on again what the run paused, however the run ends. A
// request to stop does not prevent it, and it retries until it succeeds. It returns
// false when the process ends, which leaves the run open for the next process.
func (x *execution) restoreBalancing() bool {
	for i := 0; i < len(x.current().Steps); i++ {
		r := x.current()
		if s := r.Steps[i]; !s.Restores || !s.State.Open() || !r.hasPaused(s) {
			continue
		}
		pause := restoreRetryMin
		for {
			if !x.tryRestoring(i) {
				return false
			}
			s := x.current().Steps[i]
			if s.State == Succeeded || s.State == Refused && len(s.Changed) > 0 {
				break // it is on, or another collection has replaced this one
			}
			if !x.addRetry(i) || !x.sleep(pause) {
				return false
			}
			pause = min(2*pause, restoreRetryMax)
			i++
		}
	}
	return true
}

// hasPaused reports whether the run itself switched off what a step switches on.
func (r Run) hasPaused(on Step) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.Pauses && s.State == Succeeded && s.Already == "" && s.NS == on.NS && s.TakesBack(on.Step)
	})
}

// addRetry inserts a copy after a step that failed.
func (x *execution) addRetry(i int) bool {
	return x.persist(func(r *Run) {
		s := r.Steps[i]
		if len(r.Steps) > i+1 && r.Steps[i+1].Restores && r.Steps[i+1].State.Open() && r.Steps[i+1].Op == s.Op && r.Steps[i+1].NS == s.NS {
			return // the step was deferred, which has inserted a copy
		}
		r.Steps = slices.Insert(r.Steps, i+1, Step{Step: s.Step, Command: s.Command, State: Planned, Try: s.Try + 1})
	})
}

// tryRestoring sends the command of one step that restores balancing.
func (x *execution) tryRestoring(i int) bool {
	x.updateMemory(func(r *Run) {
		r.Why = message.New("run.restoring",
			"Balancing is being turned on again.")
	})
	s := x.current().Steps[i]
	if proof, done := x.alreadyDone(s); done {
		return x.endAlreadyDone(i, proof)
	}
	if err := x.writeIntent(i, s.Command); err != nil {
		return x.endStep(i, intentFailed(err))
	}
	readings, different, err := x.readPreconditions(s.Step)
	switch {
	case x.ctx.Err() != nil:
		return false
	case err != nil:
		return x.endStep(i, preconditionsUnread(readings, err))
	case len(different) > 0:
		return x.endStep(i, preconditionsDiffer(readings, different))
	}
	if err := x.confirmLead(); err != nil {
		return x.endStep(i, intentFailed(err))
	}
	err = x.send(i, s.Step, s.Command)
	if errors.Is(err, store.ErrNotLeading) {
		return x.endStep(i, intentFailed(err))
	}
	if x.ctx.Err() != nil && fault.Of(err) == fault.UnknownOutcome {
		return false
	}
	return x.resolveOutcome(i, classifyAnswer(err), err)
}
