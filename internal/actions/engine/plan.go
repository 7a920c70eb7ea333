package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

const (
	// Expiry is how long a plan can be run after it was made.
	Expiry = 15 * time.Minute
	// shownOfInput bounds, in bytes, what a refusal repeats of a request.
	shownOfInput = 60
	// reasonLimit bounds a reason, in characters.
	reasonLimit = 500
)

// Plan makes a plan, saves it and changes nothing.
func (e *Engine) Plan(ctx context.Context, by auth.Principal, r Request) (actions.Plan, error) {
	r.UndoOf = ""
	p, err := e.make(ctx, by, r)
	if err != nil {
		return actions.Plan{}, e.refuse(ctx, by, auditPlanRefused, string(r.Kind), map[string]string{"kindOfPlan": string(r.Kind)}, err)
	}
	return p, nil
}

// make is Plan and Undo but for the record of a refusal.
func (e *Engine) make(ctx context.Context, by auth.Principal, r Request) (actions.Plan, error) {
	r.Reason = strings.TrimSpace(r.Reason)
	if !by.May(auth.Operator) {
		return actions.Plan{}, errRole(auth.Operator)
	}
	if err := e.o.Journal.Writable(); err != nil {
		return actions.Plan{}, err
	}
	switch {
	case r.Reason == "":
		return actions.Plan{}, fault.New(fault.Invalid, "A plan needs a reason: say why, for those who read the record later.")
	case utf8.RuneCountInString(r.Reason) > reasonLimit:
		return actions.Plan{}, fault.New(fault.Invalid, "The reason is too long: at most %d characters.", reasonLimit)
	}
	s, p, err := e.drawn(ctx, r)
	if err != nil {
		return actions.Plan{}, without(err, "Nothing was planned.")
	}
	if !by.May(p.Role) {
		return actions.Plan{}, errRole(p.Role)
	}
	if p.ID, err = e.newID(); err != nil {
		return actions.Plan{}, err
	}
	p.By, p.Made, p.Expires = by, s.Now, s.Now.Add(Expiry)
	record, err := planRecord(p)
	if err != nil {
		return actions.Plan{}, err
	}
	if err := e.o.Journal.SavePlan(ctx, record); err != nil {
		return actions.Plan{}, fmt.Errorf("save plan: %w", err)
	}
	e.ages.note(p.ID)
	details := map[string]string{"kindOfPlan": string(p.Kind), "hash": p.Hash, "reason": p.Reason}
	if p.UndoOf != "" {
		details["undoOf"] = p.UndoOf
	}
	if err := e.record(ctx, by, auditPlanMade, p.ID, "ok", details); err != nil {
		return actions.Plan{}, fmt.Errorf("record plan: %w", err)
	}
	return p, nil
}

// drawn is a plan from the cluster as it is now, and what it was drawn from. What
// it reads of the cluster has a time limit; what it reads of the store has the
// request's.
func (e *Engine) drawn(ctx context.Context, r Request) (actions.Situation, actions.Plan, error) {
	cluster, cancel := context.WithTimeout(ctx, planTime)
	defer cancel()
	s, err := e.situation(cluster)
	if err != nil {
		return s, actions.Plan{}, err
	}
	p, err := e.draft(ctx, cluster, &s, r)
	return s, p, err
}

func errRole(r auth.Role) error {
	return fault.New(fault.Forbidden, "That needs the role %s.", r)
}

// drafted is what the kind of a request, or the undo of a run, makes of a
// situation, and the request with its arguments resolved.
func (e *Engine) drafted(ctx context.Context, s actions.Situation, r Request) (d actions.Draft, _ Request, err error) {
	if r.UndoOf != "" {
		var run Run
		run, d, err = e.undoDraft(ctx, s, r.UndoOf)
		r.Kind, r.Args = run.Kind, run.Args
		return d, r, err
	}
	planner := e.o.Planners[r.Kind]
	if !r.Kind.Known() || planner == nil {
		return d, r, fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(string(r.Kind), shownOfInput))
	}
	d, r.Args, err = planner(s, r.Args)
	return d, r, err
}

// draft is all of a plan that follows from a situation and a request, so that
// the same is drafted again before it runs. The situation gets the flags, sizes
// and recent writes that are read for it, within the context cluster.
func (e *Engine) draft(ctx, cluster context.Context, s *actions.Situation, r Request) (actions.Plan, error) {
	d, resolved, err := e.drafted(ctx, *s, r)
	if err == nil && len(d.Written) > 0 {
		*s = e.withWrites(cluster, *s, d.Written)
		d, resolved, err = e.drafted(ctx, *s, r)
	}
	if err == nil && (len(d.Looked) > 0 || e.measures(d)) {
		if len(d.Looked) > 0 {
			*s = e.withFlags(cluster, *s, d.Looked)
		}
		if e.measures(d) {
			*s = e.withSizes(cluster, *s, d.Measures)
		}
		d, resolved, err = e.drafted(ctx, *s, r)
	}
	if err != nil {
		return actions.Plan{}, err
	}
	r, d.Looked, d.Written, d.Measures = resolved, nil, nil, nil
	if d.Role == "" {
		d.Role = auth.Operator
	}
	d.Checks = append(d.Checks, activityCheck(s.Activity))
	commands, err := e.render(d.Steps)
	if err != nil {
		return actions.Plan{}, err
	}
	return actions.Plan{Draft: d, Hash: hashOf(d.Steps, commands), Cluster: s.Table.ClusterID, Kind: r.Kind, Args: r.Args,
		Reason: r.Reason, Commands: commands, UndoOf: r.UndoOf, Rows: actions.RowsOf(*s, r.Args, d.Steps)}, nil
}

// render gives the commands of steps as they will be sent.
func (e *Engine) render(steps []actions.Step) ([]actions.Command, error) {
	commands := make([]actions.Command, len(steps))
	var err error
	for i, step := range steps {
		if commands[i], err = e.o.Renderer.Render(step); err != nil {
			return nil, err
		}
	}
	return commands, nil
}
