package engine

import (
	"context"
	"errors"
	"strconv"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// Times and limits of finding out what a command did.
const (
	outcomePollMin = 250 * time.Millisecond // pause after the first read
	outcomePollMax = 5 * time.Second        // longest pause between reads
	// proofReads is how often the proof is read after the server acknowledged a
	// command, before the proof counts as missing.
	proofReads = 4
	// quietPeriod is how long a command without effect must not have been running
	// before it counts as failed.
	quietPeriod = 20 * time.Second
	// endedQuiet is the same for a migration whose end is in the changelog.
	endedQuiet = 3 * time.Second
	// lateEffect is how long after its time limit a command may still take effect.
	lateEffect = 5 * time.Second
	// eventLimit is how many changelog entries a step keeps.
	eventLimit = 50
)

// resolveOutcome finds out what a command did. It only reads. An acknowledged
// command has succeeded when the proof holds. A refused command has failed when the
// proof does not hold. A command without an answer is resolved when its effect is
// there or when it can no longer be running. resolveOutcome returns false when the
// process ends.
func (x *execution) resolveOutcome(i int, a answer, err error) bool {
	s := x.current().Steps[i]
	seen := x.e.now() // when the command was last seen running, or may have been
	if a == noAnswer {
		x.markUnknown(i, err) // first, because reading may block when the cluster is unreachable
	}
	reads := 0
	for pause := outcomePollMin; ; pause = min(2*pause, outcomePollMax) {
		verdict, known := x.checkOutcome(s, a, err, reads, &seen)
		if x.ctx.Err() != nil {
			return false
		}
		if known {
			return x.endOrRetry(i, verdict, err)
		}
		if reads++; reads > proofReads && !x.current().Steps[i].joined() {
			x.markUnknown(i, err)
		}
		if joined := x.joinOperation(i, a); joined > 0 {
			pause = joined
		}
		if !x.sleep(pause) {
			return false
		}
	}
}

// markUnknown shows that the outcome is unknown; the first time it also saves that.
func (x *execution) markUnknown(i int, err error) {
	r := x.current()
	if r.Steps[i].State == Unknown {
		return
	}
	change := func(r *Run) {
		s := &r.Steps[i]
		s.State, s.Why = Unknown, message.New("step.unknown",
			"The command was sent. It is not known whether it had its effect.")
		if err != nil {
			s.setError(err)
		}
		r.State, r.Why = Unknown, runUnknown
	}
	if x.save(x.ctx, change) != nil {
		x.updateMemory(change) // the intent is on disk, so the outcome is unknown after a crash anyway
	}
	details := map[string]string{"step": strconv.Itoa(i), "op": string(r.Steps[i].Op), "state": string(Unknown)}
	x.e.tryAudit(context.WithoutCancel(x.ctx), auth.Principal{ID: r.By}, auditRunStep, x.id, "unknown", details)
}

// checkOutcome reads the cluster once. known is false when the result does not
// decide the outcome yet.
func (x *execution) checkOutcome(s Step, a answer, err error, reads int, seen *time.Time) (verdict func(*Step), known bool) {
	proof, missing, readErr := x.e.readFacts(x.ctx, s.Proof)
	if readErr != nil {
		*seen = x.e.now()
		return nil, false
	}
	if len(missing) == 0 {
		return x.effectProven(s, a, err, proof), true
	}
	if end, known := x.defragmentationOver(s, a, err, reads, proof, seen); known {
		return end, true
	}
	why := message.New("step.serverRefused", "The server refused this command, and it had no effect.")
	switch {
	case a == refused && s.Effects().Aborts && errors.Is(err, operation.ErrReshardingCommits):
		// What still runs is the operation that was to be aborted, not this command.
		why = stepCommits
	case a == refused:
		// A server in between may refuse while the command continues behind it.
		if reads == 0 {
			return nil, false
		}
		if t, err := x.e.opts.Reader.Trace(x.ctx, x.id, s.Step, s.Sent); err != nil || t.Running {
			return nil, false
		}
	case a == acknowledged || a == committed:
		if reads+1 < proofReads {
			return nil, false
		}
		why = message.New("step.proofDiffers", "The command succeeded, but the cluster does not show its effect.")
	case a == noAnswer:
		if !x.unansweredFailed(s, seen) {
			return nil, false
		}
		why = message.New("step.noEffect", "The command has had no effect, and it is no longer running.")
	}
	if a != refused && x.changedConcurrently(s) {
		why = stepChangedSince
	}
	if s.Copies() && s.Effects().InBackground && !s.Effects().EndsAnother && a != acknowledged {
		why = x.reshardEndText(s, err, why)
	}
	events := x.stepEvents(s)
	return func(s *Step) {
		s.Resolved = s.wasUnknown()
		s.State, s.Proven, s.Changed, s.Events, s.Why = Failed, proof, missing, events, why
		if err != nil {
			s.setError(err)
		}
	}, true
}

// effectProven ends a step whose proof was read.
func (x *execution) effectProven(s Step, a answer, err error, proof []Reading) func(*Step) {
	events, raced := x.stepEvents(s), x.changedConcurrently(s)
	return func(s *Step) {
		s.Resolved = s.wasUnknown()
		s.State, s.Proven, s.Events, s.Why = Succeeded, proof, events, message.Message{}
		if s.Answered = a == acknowledged; a == committed {
			s.Why = deletesText(*s)
		}
		if raced {
			s.Why = message.New("step.raced",
				"The cluster is as it should be, but somebody else changed the same chunks between the last check and "+
					"the command.")
		}
		if a == refused {
			s.Resolved, s.Why = true, message.New("step.refusedButSo",
				"The command was refused, but the cluster is as it should be: somebody else made the same change, "+
					"or the command arrived twice.")
			s.setError(err)
		}
	}
}

// unansweredFailed reports whether a command that was not answered and shows no
// effect can no longer have one.
func (x *execution) unansweredFailed(s Step, seen *time.Time) bool {
	at := x.e.now()
	trace, err := x.e.opts.Reader.Trace(x.ctx, x.id, s.Step, s.Sent)
	if err != nil || trace.Running {
		*seen = at
		return false
	}
	over := at.Sub(*seen) >= quietPeriod || trace.Ended && s.Migrates() && at.Sub(*seen) >= endedQuiet
	if !s.Lingers() {
		over = at.Sub(s.Sent) >= s.TimeLimit()+lateEffect
	}
	if !over {
		return false
	}
	// The proof was read before the trace. A command that ended between the two reads
	// had its effect after the proof was read, so it is read again.
	_, missing, err := x.e.readFacts(x.ctx, s.Proof)
	return err == nil && len(missing) > 0
}

// stepEvents reads the changelog entries of a step. Failing to read them is not an
// error of the step.
func (x *execution) stepEvents(s Step) []topology.Event {
	if s.NS == "" && s.DB == "" {
		return nil
	}
	t, err := x.e.opts.Reader.Trace(x.ctx, x.id, s.Step, s.Sent)
	if err != nil {
		x.e.opts.Log.Warn("read the changelog of a step", "run", x.id, "err", err)
		return nil
	}
	return t.Events[max(0, len(t.Events)-eventLimit):]
}
