package engine

import (
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// The pause between two tries to switch on again what was paused.
const (
	restoreAgain  = 2 * time.Second
	restoreLonger = 30 * time.Second
)

// restore switches on again what the run has paused, however the run ends: a stop
// does not keep it from that, and it goes on until it is so. False at the end of
// the process, which leaves the run open for the next one.
func (x *execution) restore() bool {
	for i := 0; i < len(x.now().Steps); i++ {
		r := x.now()
		if s := r.Steps[i]; !s.Restores || !s.State.Open() || !r.paused(s) {
			continue
		}
		pause := restoreAgain
		for {
			if !x.switchOn(i) {
				return false
			}
			s := x.now().Steps[i]
			if s.State == Succeeded || s.State == Refused && len(s.Changed) > 0 {
				break // it is on, or it is another collection by now
			}
			if !x.tryAgain(i) || !x.pause(pause) {
				return false
			}
			pause = min(2*pause, restoreLonger)
			i++
		}
	}
	return true
}

// paused tells whether the run itself switched off what the step switches on.
func (r Run) paused(on Step) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.Pauses && s.State == Succeeded && s.Already == "" && s.NS == on.NS &&
			(s.Op == on.Op || s.Op == actions.OpBalancerOff && on.Op == actions.OpBalancerOn)
	})
}

// tryAgain puts a copy after a step of this kind that has failed.
func (x *execution) tryAgain(i int) bool {
	return x.keep(func(r *Run) {
		s := r.Steps[i]
		if len(r.Steps) > i+1 && r.Steps[i+1].Restores && r.Steps[i+1].State.Open() && r.Steps[i+1].Op == s.Op && r.Steps[i+1].NS == s.NS {
			return // the server said "not now", and a copy is there already
		}
		r.Steps = slices.Insert(r.Steps, i+1, Step{Step: s.Step, Command: s.Command, State: Planned, Try: s.Try + 1})
	})
}

// switchOn is one try.
func (x *execution) switchOn(i int) bool {
	x.show(func(r *Run) {
		r.Why = message.New("run.restoring",
			"Balancing is being switched on again.")
	})
	s := x.now().Steps[i]
	if proof, held := x.held(s); held {
		return x.already(i, proof)
	}
	if err := x.intend(i); err != nil {
		return x.finish(i, noIntent(err))
	}
	readings, different, err := x.needs(s.Step)
	switch {
	case x.e.life.Err() != nil:
		return false
	case err != nil:
		return x.finish(i, unread(readings, err))
	case len(different) > 0:
		return x.finish(i, otherwise(readings, different))
	}
	if err := x.e.o.Journal.Writable(); err != nil {
		return x.finish(i, noIntent(err))
	}
	err = x.send(i, s.Step)
	if x.e.life.Err() != nil && fault.Of(err) == fault.UnknownOutcome {
		return false
	}
	return x.settle(i, answerOf(err), err)
}
