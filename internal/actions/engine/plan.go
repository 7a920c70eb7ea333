package engine

import (
	"context"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/balance"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

const (
	// Expiry is how long after it was made a plan can be run that needs no approval.
	Expiry = 15 * time.Minute
	// shownOfInput limits, in bytes, how much of its input a refusal repeats.
	shownOfInput = 60
	// reasonLimit is the longest reason, in characters.
	reasonLimit = 500
)

// Plan makes a plan and saves it. It changes nothing in the cluster.
func (e *Engine) Plan(ctx context.Context, by auth.Principal, r Request) (actions.Plan, error) {
	r.UndoOf = ""
	p, err := e.makePlan(ctx, by, r)
	if err != nil {
		return actions.Plan{}, e.auditRefusal(ctx, by, auditPlanRefused, string(r.Kind), map[string]string{"kindOfPlan": string(r.Kind)}, err)
	}
	return p, nil
}

// makePlan checks a request, makes the plan and saves it. Callers record a refusal.
func (e *Engine) makePlan(ctx context.Context, by auth.Principal, r Request) (actions.Plan, error) {
	r.Reason = strings.TrimSpace(r.Reason)
	if !by.May(auth.Operator) {
		return actions.Plan{}, roleError(auth.Operator)
	}
	if err := e.opts.Journal.Writable(); err != nil {
		return actions.Plan{}, err
	}
	switch {
	case r.Reason == "":
		return actions.Plan{}, fault.New(fault.Invalid, "A plan needs a reason, which is kept in the audit record.")
	case utf8.RuneCountInString(r.Reason) > reasonLimit:
		return actions.Plan{}, fault.New(fault.Invalid, "The reason is too long: at most %d characters.", reasonLimit)
	}
	s, p, err := e.planFromCluster(ctx, r)
	if err != nil {
		return actions.Plan{}, explainOutage(err, "Nothing was planned.")
	}
	if !by.May(p.Role) {
		return actions.Plan{}, roleError(p.Role)
	}
	if p.ID, err = e.newID(); err != nil {
		return actions.Plan{}, err
	}
	p.By, p.Made, p.Expires = by, s.Now, s.Now.Add(Expiry)
	if p, err = e.withApproval(ctx, p); err != nil {
		return actions.Plan{}, err
	}
	record, err := encodePlan(p)
	if err != nil {
		return actions.Plan{}, err
	}
	if err := e.opts.Journal.SavePlan(ctx, record); err != nil {
		return actions.Plan{}, fmt.Errorf("save plan: %w", err)
	}
	e.expiry.track(p.ID)
	if len(p.Approval) > 0 {
		if err := e.askApproval(ctx, p); err != nil {
			return actions.Plan{}, fmt.Errorf("ask for approval: %w", err)
		}
	}
	details := map[string]string{"kindOfPlan": string(p.Kind), "hash": p.Hash, "reason": p.Reason}
	if p.UndoOf != "" {
		details["undoOf"] = p.UndoOf
	}
	if len(p.Approval) > 0 {
		details["approval"] = asText(p.Approval)
	}
	if err := e.writeAudit(ctx, by, auditPlanMade, p.ID, "ok", details); err != nil {
		return actions.Plan{}, fmt.Errorf("record plan: %w", err)
	}
	return p, nil
}

// planFromCluster makes a plan from the current cluster and returns the situation
// that it is based on. planTimeout limits the reads from the cluster, but not those
// from the store.
func (e *Engine) planFromCluster(ctx context.Context, r Request) (actions.Situation, actions.Plan, error) {
	clusterCtx, cancel := context.WithTimeout(ctx, planTimeout)
	defer cancel()
	s, err := e.readSituation(clusterCtx)
	if err == nil {
		err = needsRelease(s)
	}
	if err != nil {
		return s, actions.Plan{}, err
	}
	p, err := e.buildPlan(ctx, clusterCtx, &s, r)
	return s, p, err
}

// needsRelease refuses to plan while the release is not known, because the release decides about commands, limits
// and checks.
func needsRelease(s actions.Situation) error {
	if s.Release.Known() {
		return nil
	}
	if s.Table.ServerInfo.Version != "" {
		return fault.New(fault.Unavailable, "Nothing can be planned: the cluster answers the version %s, which is not understood.",
			sanitize.Quoted(s.Table.ServerInfo.Version))
	}
	return fault.New(fault.Unavailable, "Nothing can be planned yet: the MongoDB version of the cluster is not known.")
}

// buildPlan derives a plan from a situation and a request. It is also used to check
// right before a run that the same plan would be made now. What the draft needs is read
// within clusterCtx.
func (e *Engine) buildPlan(ctx, clusterCtx context.Context, s *actions.Situation, r Request) (actions.Plan, error) {
	var resolved Request
	d, err := e.draftWithReads(clusterCtx, s, func(s actions.Situation) (d actions.Draft, err error) {
		d, resolved, err = e.draft(ctx, s, r)
		return d, err
	})
	if err != nil {
		return actions.Plan{}, err
	}
	if r.NoWait {
		d.Steps = actions.WithoutWaits(d.Steps)
	}
	r = resolved
	if d.Role == "" {
		d.Role = auth.Operator
	}
	d.Checks = append(d.Checks, activityCheck(s.Activity))
	if err := hashItems(s.Release, d.Steps); err != nil {
		return actions.Plan{}, err
	}
	commands, err := commandsOf(s.Release, d.Steps)
	if err != nil {
		return actions.Plan{}, err
	}
	hash, err := planHash(d.Steps, commands)
	if err != nil {
		return actions.Plan{}, err
	}
	return actions.Plan{Draft: d, Hash: hash, Cluster: s.Table.ClusterID, Kind: r.Kind, Args: r.Args,
		Reason: r.Reason, Commands: commands, UndoOf: r.UndoOf, Rows: actions.RowsOf(*s, r.Args, d.Steps)}, nil
}

// draft drafts the requested change, or the undo of a run. It returns the request with its arguments resolved.
func (e *Engine) draft(ctx context.Context, s actions.Situation, r Request) (d actions.Draft, _ Request, err error) {
	if r.UndoOf != "" {
		if d, r, undoes, err := e.draftBatchUndo(ctx, s, r); undoes || err != nil {
			return d, r, err
		}
		var run Run
		run, d, err = e.draftUndo(ctx, s, r.UndoOf)
		r.Kind, r.Args = run.Kind, run.Args
		return d, r, err
	}
	d, r.Args, err = actions.PlanChange(s, r.Kind, r.Args)
	return d, r, err
}

// commandsOf returns the commands of steps for a release, as they will be sent.
func commandsOf(r balance.Release, steps []operation.Step) ([]operation.Command, error) {
	if len(steps) > 0 && !r.Known() {
		return nil, fault.New(fault.Unavailable, "The release of the cluster is not known.")
	}
	commands := make([]operation.Command, len(steps))
	var err error
	for i, step := range steps {
		if commands[i], err = step.Command(r); err != nil {
			return nil, err
		}
	}
	return commands, nil
}
