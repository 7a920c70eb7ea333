package engine

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/balance"
	"shardboard/internal/message"
)

// maxAdaptations limits how often the rest of a run is planned again. A cluster that
// changes more often should not be changed at the same time.
const maxAdaptations = 100

// canAdapt reports whether the rest of the run may be planned again.
func (r Run) canAdapt() bool { return actions.Describe(r.Kind).Adapts || r.UndoOf != "" }

// replan plans the rest of the run again, from step i, which has an intent and was
// not sent. When the goal cannot be reached within the confirmed limits, the step is
// refused and shows what changed.
func (x *execution) replan(i int, readings []Reading, because []operation.Difference) bool {
	run := x.current()
	return x.replanAs(i, planSteps(run.Steps[i:firstRestore(run.Steps)]), readings, because, message.New("step.replaced",
		"Not sent: the cluster had changed. The rest was planned again."))
}

// replanAs is replan of steps that take the place of those from i on. why is why step i was not sent.
func (x *execution) replanAs(i int, steps []operation.Step, readings []Reading, because []operation.Difference, why message.Message) bool {
	run := x.current()
	refuse := func(why message.Message, d []operation.Difference, err error) bool {
		return x.endStep(i, func(s *Step) {
			s.State, s.Changed, s.Before = Refused, d, readings
			s.setError(err)
			s.Why = why
		})
	}
	if len(run.Adaptations) >= maxAdaptations {
		return refuse(message.New("step.restless",
			"Not sent: the cluster changed again and again during this run. Pause balancing for the run, or "+
				"wait until the cluster is calm."), because, nil)
	}
	if taken := x.zonesTakenBack(); len(taken) > 0 {
		return refuse(x.goalTaken("step.goalTaken", taken), slices.Concat(because, taken), nil)
	}
	end := firstRestore(run.Steps)
	rest, commands, err := x.draftRemaining(run, steps)
	var conflict *actions.UndoConflictError
	var exceeded *ChangedError
	switch {
	case x.ctx.Err() != nil:
		return false
	case errors.As(err, &conflict):
		return refuse(stepChanged, slices.Concat(because, conflict.Differences), err)
	case errors.As(err, &exceeded):
		return refuse(message.New("step.beyondLimits",
			"Not sent: the rest of the change now exceeds the limits that were confirmed. Make a plan for the "+
				"rest."), slices.Concat(because, exceeded.Differences), nil)
	case err != nil:
		return refuse(stepUnread, because, err)
	}
	a := Adaptation{
		At:      x.e.now(),
		Step:    i + 1,
		Because: because,
		Before:  end - i,
		After:   len(rest.Steps),
		Same:    slices.EqualFunc(run.Steps[i:end], commands, func(s Step, c operation.Command) bool { return s.Command.Equal(c) }),
	}
	if !x.auditAdaptation(i, a) {
		return false
	}
	step := x.current().Steps[i]
	step.State = Replaced
	if !x.audit(auditRunStep, auditOutcome(Replaced), stepAuditDetails(i, step)) {
		return false
	}
	return x.persist(func(r *Run) {
		s := &r.Steps[i]
		s.State, s.Ended, s.Before, s.Changed = Replaced, a.At, readings, because
		s.Why = why
		r.Steps = slices.Concat(r.Steps[:i+1], newSteps(rest.Steps, commands), r.Steps[end:])
		r.Adaptations = append(slices.Clone(r.Adaptations), a)
		r.State, r.Why = Running, message.Message{}
	})
}

// auditAdaptation records an adaptation that begins at a step.
func (x *execution) auditAdaptation(step int, a Adaptation) bool {
	details := map[string]string{"step": fmt.Sprint(step), "before": fmt.Sprint(a.Before), "after": fmt.Sprint(a.After)}
	return x.audit(auditRunAdapted, "ok", details)
}

// draftRemaining plans what is left of steps, from a table that is read for it. It
// returns a *ChangedError when that would exceed the confirmed limits or a check
// blocks it.
func (x *execution) draftRemaining(run Run, steps []operation.Step) (actions.Draft, []operation.Command, error) {
	s, err := x.e.readSituation(x.ctx)
	if err != nil {
		return actions.Draft{}, nil, err
	}
	d, err := x.e.draftRest(x.ctx, s, run.Kind, run.Args, run.Summary, steps)
	if err != nil {
		return d, nil, err
	}
	return withinLimits(s.Release, d, run.Limits, run.chunksMoved())
}

// draftRest drafts what is left of steps, with the current jumbo flags of the chunks
// concerned.
func (e *planning) draftRest(
	ctx context.Context,
	s actions.Situation,
	kind actions.Kind,
	a actions.Args,
	summary message.Message,
	steps []operation.Step,
) (actions.Draft, error) {
	return e.draftWithReads(ctx, &s, func(s actions.Situation) (actions.Draft, error) {
		d, err := actions.Remaining(s, kind, a, summary, steps)
		d.Needs = actions.Needs{Flags: d.Needs.Flags}
		return d, err
	})
}

// withinLimits returns the commands of a draft that may run without another confirmation.
func withinLimits(r balance.Release, d actions.Draft, l operation.Limits, moved int) (actions.Draft, []operation.Command, error) {
	if over := d.Exceeds(l, moved); len(over) > 0 {
		return d, nil, changedError(over, "What is left to do exceeds the limits that were confirmed.")
	}
	if d.Blocked() && !d.Reached {
		return d, nil, changedError(blockingChecks(d), "A check blocks what is left to do.")
	}
	commands, err := commandsOf(r, d.Steps)
	return d, commands, err
}

// blockingChecks lists the checks that block a draft, as differences.
func blockingChecks(d actions.Draft) (out []operation.Difference) {
	for _, c := range d.Checks {
		if c.Verdict == actions.Block {
			out = append(out, operation.Difference{Field: "check", Want: string(actions.Pass), Got: c.ID})
		}
	}
	return out
}

// chunksMoved is the number of chunks that the run has moved.
func (r Run) chunksMoved() (n int) {
	for _, s := range r.Steps {
		if s.Migrates() && s.State == Succeeded && s.Already == "" {
			n++
		}
	}
	return n
}

// firstRestore is the index of the first step that restores balancing.
func firstRestore(steps []Step) int {
	if i := slices.IndexFunc(steps, func(s Step) bool { return s.Restores }); i >= 0 {
		return i
	}
	return len(steps)
}

// planSteps returns the planned part of each step.
func planSteps(steps []Step) []operation.Step {
	out := make([]operation.Step, len(steps))
	for i, s := range steps {
		out[i] = s.Step
	}
	return out
}

// newSteps returns the steps of a run for planned steps and their commands.
func newSteps(steps []operation.Step, commands []operation.Command) []Step {
	out := make([]Step, len(steps))
	for i, s := range steps {
		out[i] = Step{Step: s, Command: commands[i], State: Planned}
	}
	return out
}
