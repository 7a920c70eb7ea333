package engine

import (
	"errors"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
)

// endOrRetry ends a step with a verdict. When the server asked to try later, the
// step is deferred and a copy of it, with an intent of its own, waits to be tried
// again.
func (x *execution) endOrRetry(i int, verdict func(*Step), err error) bool {
	s := x.current().Steps[i]
	verdict(&s)
	var busy *operation.BusyError
	serverRefused, noEffect := s.Why.Code == "step.serverRefused", s.Why.Code == "step.noEffect"
	tryLater := s.State == Failed && errors.As(err, &busy) && (serverRefused || noEffect) && !s.Effects().ChangesDraining
	switch {
	case !tryLater && (serverRefused || noEffect) && x.current().canAdapt() && x.preconditionsChanged(s):
		return x.deferStep(i, func(s *Step) {
			verdict(s)
			s.State, s.Why = Deferred, message.New("step.overtaken",
				"The cluster changed between the last check and the command, which had no effect. The rest is planned again.")
		}, nil)
	case !tryLater && s.State == Failed && (serverRefused || noEffect) && s.Migrates() && len(s.Others) > 0 && x.current().canAdapt():
		return x.deferStep(i, func(s *Step) {
			verdict(s)
			s.State, s.Changed, s.Why = Deferred, nil, message.New("step.recipientRefused",
				"The move to {shard} had no effect. The next step tries another shard, if one is free.", message.Shard("shard", s.Shard))
		}, x.blockedRecipient(s))
	case !tryLater:
		return x.endStep(i, verdict)
	}
	wait := x.newBackoff(s, busy)
	if !x.e.now().Before(wait.Until) {
		return x.endStep(i, func(s *Step) { verdict(s); markGaveUp(s, wait) })
	}
	return x.deferStep(i, func(s *Step) {
		verdict(s)
		s.State, s.Changed = Deferred, nil
		s.Why = message.New("step.deferred",
			"The server asked to try later. The next step tries again.")
	}, &wait)
}

// preconditionsChanged reports whether a precondition changed between the last check
// and the command, which explains why the server refused it.
func (x *execution) preconditionsChanged(s Step) bool {
	_, different, err := x.readPreconditions(s.Step)
	return err == nil && len(different) > 0
}

// deferStep ends a step and inserts a copy after it. The copy waits when there is
// something to wait for.
func (x *execution) deferStep(i int, change func(*Step), wait *Backoff) bool {
	at := x.e.now()
	s := x.current().Steps[i]
	change(&s)
	if !x.audit(auditRunStep, auditOutcome(s.State), stepAuditDetails(i, s)) {
		return false
	}
	return x.persist(func(r *Run) {
		again := Step{Step: r.Steps[i].Step, Command: r.Steps[i].Command, State: Planned, Try: r.Steps[i].Try + 1, Backoff: wait}
		change(&r.Steps[i])
		r.Steps[i].Ended = at
		if wait != nil && wait.Obstacle == actions.ObstacleRecipient { // it fails for that, if no other shard is free
			again.Error, again.Brief = r.Steps[i].Error, r.Steps[i].Brief
		}
		r.Steps = slices.Insert(r.Steps, i+1, again)
		if wait != nil {
			r.State, r.Why = Waiting, waitingText(*wait)
		}
	})
}

// markGaveUp ends a step that has waited as long as allowed.
func markGaveUp(s *Step, w Backoff) {
	s.State, s.Backoff = Failed, &w
	s.Why = message.New("step.gaveUp", message.Plural(s.Try+1, "Gave up after one try: ", "Gave up after {tries} tries: ")+
		"the same obstacle had been in the way since {since}.",
		message.Time("since", w.Since), message.Count("tries", s.Try+1), message.Text("obstacle", string(w.Obstacle)))
}
