package engine

import (
	"context"
	"slices"
	"strings"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// Standing is what a run has changed and left so, by what was read from the
// cluster after each step. What the balancer or somebody else did in its place is
// not counted.
type Standing struct {
	Splits        int
	Merges        int
	Moves         int // chunks
	RangesSet     int // zone ranges
	RangesRemoved int
	ZonesJoined   int // shards that were put into a zone
	ZonesLeft     int
	Settings      int // of the balancer and of collections, jumbo flags
	ByOthers      int // steps that were done already when their turn came
	Unknown       int // commands of which the outcome is not known yet
	Paused        bool
}

// Standing tells what the run has left behind so far.
func (r Run) Standing() (out Standing) {
	for _, s := range r.Steps {
		switch {
		case s.State == Unknown:
			out.Unknown++
			continue
		case s.State != Succeeded || !s.Sends() || s.Restores:
			continue
		case s.Already != "":
			out.ByOthers++
			continue
		case s.Pauses:
			continue
		}
		switch s.Op {
		case actions.OpSplitAt, actions.OpSplitMedian:
			out.Splits++
		case actions.OpMerge:
			out.Merges++
		case actions.OpMove, actions.OpMoveRange:
			out.Moves++
		case actions.OpSetRange:
			out.RangesSet++
		case actions.OpRemoveRange:
			out.RangesRemoved++
		case actions.OpAddZone:
			out.ZonesJoined++
		case actions.OpRemoveZone:
			out.ZonesLeft++
		default:
			out.Settings++
		}
	}
	out.Paused = len(r.Pauses()) > 0
	return out
}

// CanFinish tells whether a plan for the rest can be made: the run has ended
// before its goal, and nothing has taken it back.
func (r Run) CanFinish() bool {
	return r.Kind != Unreadable && (r.State == Failed || r.State == Refused || r.State == Stopped)
}

// Finish plans what a run that has ended early has left to do, from the table of
// now. It is a plan as any other: checked, confirmed, run and undone by itself.
func (e *Engine) Finish(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error) {
	p, err := e.finishPlan(ctx, by, run, reason)
	if err != nil {
		return actions.Plan{}, e.refuse(ctx, by, auditPlanRefused, run, map[string]string{"finishOf": run}, err)
	}
	return p, nil
}

func (e *Engine) finishPlan(ctx context.Context, by auth.Principal, id, reason string) (actions.Plan, error) {
	if !by.May(auth.Operator) {
		return actions.Plan{}, errRole(auth.Operator)
	}
	run, err := e.RunByID(ctx, id)
	if err != nil {
		return actions.Plan{}, err
	}
	switch {
	case run.Kind == Unreadable:
		return actions.Plan{}, errUnknownSteps
	case run.State.Open():
		return actions.Plan{}, fault.New(fault.Conflict, "This run has not ended. Stop it, or wait.")
	case run.State == Undone:
		return actions.Plan{}, fault.New(fault.Conflict, "This run is undone. To do it after all, make its plan anew.")
	case !run.CanFinish():
		return actions.Plan{}, fault.New(fault.Conflict, "This run has done all that it was to do: nothing is left to finish.")
	}
	if reason = strings.TrimSpace(reason); reason == "" {
		reason = "Finish run " + id
	}
	if run.UndoOf != "" {
		return e.make(ctx, by, Request{Reason: reason, UndoOf: run.UndoOf})
	}
	return e.make(ctx, by, Request{Kind: run.Kind, Args: run.Args, Reason: reason})
}

// Pause is balancing that a run has switched off and has not switched on again.
type Pause struct {
	NS    string // collection; "" is the balancer of the whole cluster
	Since time.Time
}

// Pauses are those of the run. One that has ended with pauses was given up by a
// process that is gone.
func (r Run) Pauses() (out []Pause) {
	for _, on := range r.Steps {
		if !on.Restores || !r.paused(on) || r.restored(on) {
			continue
		}
		p := Pause{NS: string(on.NS)}
		for _, s := range r.Steps {
			if s.Pauses && s.NS == on.NS && s.State == Succeeded {
				p.Since = s.Ended
			}
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}

// restored tells whether a try to switch it on again has succeeded, or has found
// another collection in its place.
func (r Run) restored(on Step) bool {
	return slices.ContainsFunc(r.Steps, func(s Step) bool {
		return s.Restores && s.Op == on.Op && s.NS == on.NS && (s.State == Succeeded || s.State == Refused && len(s.Changed) > 0)
	})
}
