package engine

import (
	"context"
	"strings"

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
	out.Paused = r.pausing()
	return out
}

// pausing tells whether the run has switched balancing off and not on again.
func (r Run) pausing() bool {
	for _, s := range r.Steps {
		if s.Restores && s.State.Open() && r.paused(s) {
			return true
		}
	}
	return false
}

// CanFinish tells whether a plan for the rest can be made: the run has ended
// before its goal, and nothing has taken it back.
func (r Run) CanFinish() bool {
	return r.State == Failed || r.State == Refused || r.State == Stopped
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

// Pause is balancing that an open run has switched off and has yet to switch on.
type Pause struct {
	Run string
	NS  string // collection; "" is the balancer of the whole cluster
}

// Pauses are those of all runs that this process knows to be open.
func (e *Engine) Pauses() (out []Pause) {
	e.mu.Lock()
	live := make([]*execution, 0, len(e.live))
	for _, x := range e.live {
		live = append(live, x)
	}
	e.mu.Unlock()
	for _, x := range live {
		r := x.now()
		for _, s := range r.Steps {
			if s.Restores && s.State.Open() && r.paused(s) {
				out = append(out, Pause{Run: r.ID, NS: string(s.NS)})
			}
		}
	}
	return out
}
