package engine

import (
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
)

// endStep ends a step: first in the audit record, then on disk. After a crash in
// between, the next process writes the audit entry again.
func (x *execution) endStep(i int, change func(*Step)) bool {
	at := x.e.now()
	s := x.current().Steps[i]
	change(&s)
	if !x.audit(auditRunStep, auditOutcome(s.State), stepAuditDetails(i, s)) {
		return false
	}
	ok := x.persist(func(r *Run) {
		s := &r.Steps[i]
		change(s)
		s.Ended = at
		r.State, r.Why = Running, message.Message{}
	})
	if ok {
		x.e.cleanups.add(x.current().Steps[i])
	}
	return ok
}

// endStopped ends a step that was stopped before its command was sent.
func (x *execution) endStopped(i int) bool {
	why := x.stopReason()
	return x.endStep(i, func(s *Step) { s.State, s.Why = Stopped, why })
}

// intentFailed ends a step whose intent could not be saved.
func intentFailed(err error) func(*Step) {
	return func(s *Step) {
		s.State, s.Why = Failed, message.New("step.noIntent",
			"The intent to send the command could not be saved, so nothing was sent.")
		s.setError(err)
	}
}

// preconditionsUnread ends a step whose preconditions could not all be read.
func preconditionsUnread(readings []Reading, err error) func(*Step) {
	return func(s *Step) {
		s.State, s.Before, s.Why = Refused, readings, stepUnread
		s.setError(err)
	}
}

// preconditionsDiffer ends a step whose preconditions do not hold.
func preconditionsDiffer(readings []Reading, different []operation.Difference) func(*Step) {
	return func(s *Step) {
		s.State, s.Changed, s.Before, s.Why = Refused, different, readings, stepChanged
	}
}
