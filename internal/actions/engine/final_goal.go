package engine

import (
	"errors"
	"fmt"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
)

// checkGoal checks at the end of a run whether its goal is still met, plans what is
// missing and inserts it before the steps that restore balancing. more is true when
// there are new steps; ok is false when the run has ended.
func (x *execution) checkGoal() (more, ok bool) {
	run := x.current()
	if !actions.Describe(run.Kind).KeepsGoal || run.UndoOf != "" || run.Args.Mode == actions.ModeBalancer ||
		len(run.Adaptations) >= maxAdaptations {
		return false, true
	}
	d, commands, err := x.draftGoal(run)
	var exceeded *ChangedError
	switch {
	case x.ctx.Err() != nil:
		return false, false
	case errors.As(err, &exceeded):
		a := Adaptation{At: x.e.now(), Step: len(run.Steps), Because: exceeded.Differences, Refused: true}
		if x.persist(func(r *Run) { r.Adaptations = append(slices.Clone(r.Adaptations), a) }) {
			x.endRun(Failed, message.New("run.goalLost",
				"Every step was done, but the cluster has since moved away from the goal, further than this run may "+
					"correct. Make a plan for the rest."))
		}
		return false, false
	case err != nil || len(d.Steps) == 0:
		return false, true // every step was proven when it ended
	}
	if taken := slices.Concat(x.zonesTakenBack(), x.movesTakenBack(d.Steps)); len(taken) > 0 {
		a := Adaptation{At: x.e.now(), Step: len(run.Steps), Because: taken, Refused: true}
		if x.persist(func(r *Run) { r.Adaptations = append(slices.Clone(r.Adaptations), a) }) {
			x.endRun(Failed, x.goalTaken("run.goalTaken", taken))
		}
		return false, false
	}
	end := firstRestore(run.Steps)
	a := Adaptation{
		At:      x.e.now(),
		Step:    end,
		After:   len(d.Steps),
		Because: []operation.Difference{{Field: goalField, Want: "kept", Got: fmt.Sprint(len(d.Steps))}},
	}
	if !x.auditAdaptation(end, a) {
		return false, false
	}
	return true, x.persist(func(r *Run) {
		r.Steps = slices.Concat(r.Steps[:end], newSteps(d.Steps, commands), r.Steps[end:])
		r.Adaptations = append(slices.Clone(r.Adaptations), a)
	})
}

// draftGoal drafts what is missing to reach the goal of a run.
func (x *execution) draftGoal(run Run) (actions.Draft, []operation.Command, error) {
	if run.Kind == actions.Spread { // the plan decided which part goes to which shard
		plan, err := x.e.PlanByID(x.ctx, run.Plan)
		if err != nil {
			return actions.Draft{}, nil, err
		}
		return x.draftRemaining(run, withoutPauses(plan.Steps))
	}
	s, err := x.e.readSituation(x.ctx)
	if err != nil {
		return actions.Draft{}, nil, err
	}
	args := run.Args
	args.Pause = ""
	d, _, err := actions.PlanChange(s, run.Kind, args)
	if err != nil || len(d.Steps) == 0 {
		return actions.Draft{}, nil, err // nothing is missing, so checks do not matter
	}
	return withinLimits(s.Release, d, run.Limits, run.chunksMoved())
}
