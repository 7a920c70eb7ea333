package engine

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// Run starts a plan, once.
func (e *Engine) Run(ctx context.Context, by auth.Principal, plan string, r RunRequest) (Run, bool, error) {
	run, created, err := e.runPlan(ctx, by, plan, r)
	if err != nil {
		return Run{}, false, e.auditRefusal(ctx, by, auditRunRefused, plan, map[string]string{"why": refusalReason(err)}, err)
	}
	return run, created, nil
}

// runPlan checks a request to run a plan and starts the run. A plan that already has
// a run returns that run.
func (e *Engine) runPlan(ctx context.Context, by auth.Principal, id string, r RunRequest) (Run, bool, error) {
	if !by.May(auth.Operator) {
		return Run{}, false, roleError(auth.Operator)
	}
	if err := e.opts.Journal.Writable(); err != nil {
		return Run{}, false, err
	}
	t, err := e.awaitReady(ctx)
	if err != nil {
		return Run{}, false, err
	}
	unlock, err := e.planLocks.lock(ctx, id)
	if err != nil {
		return Run{}, false, err
	}
	defer unlock()
	p, err := e.PlanByID(ctx, id)
	if err != nil {
		return Run{}, false, err
	}
	switch {
	case p.By.ID != by.ID:
		return Run{}, false, fault.New(fault.Conflict, "This plan was made by somebody else. Make your own plan; it is checked again.")
	case subtle.ConstantTimeCompare([]byte(p.Hash), []byte(r.Hash)) != 1:
		return Run{}, false, changedError(planDifference("hash", p.Hash, sanitize.Truncate(r.Hash, shownOfInput)),
			"This is not the plan that was shown: its hash differs. Look at the plan again.")
	}
	if run, err := e.RunOfPlan(ctx, id); err == nil || fault.Of(err) != fault.NotFound {
		return run, false, err
	}
	if err := e.checkRequest(by, p, r); err != nil {
		return Run{}, false, err
	}
	approved, err := e.approvalFor(ctx, p)
	if err != nil {
		return Run{}, false, err
	}
	if err := e.stopUndone(ctx, by, p.UndoOf); err != nil {
		return Run{}, false, err
	}
	adapted, err := e.adaptToChanges(ctx, &p, approved != nil)
	if err != nil {
		return Run{}, false, explainOutage(err, "Nothing was started; the plan can be run until "+p.Expires.UTC().Format("15:04:05 UTC")+".")
	}
	// Reading the cluster took a while, in which the plan or its approval may have expired.
	if err := e.checkRequest(by, p, r); err != nil {
		return Run{}, false, err
	}
	// One run of a person begins after the other, because what they run adds up.
	unlockPerson, err := e.planLocks.lock(ctx, "person "+personOf(p.By))
	if err != nil {
		return Run{}, false, err
	}
	defer unlockPerson()
	if approved, err = e.approvalFor(ctx, p); err != nil {
		return Run{}, false, err
	}
	return e.createRun(ctx, t, by, p, adapted, approved)
}

// checkRequest makes the checks that need no read from the cluster.
func (e *approvals) checkRequest(by auth.Principal, p actions.Plan, r RunRequest) error {
	at := e.now()
	switch {
	case !by.May(p.Role):
		return roleError(p.Role)
	case p.Cluster != e.clusterID():
		return changedError(planDifference("clusterId", p.Cluster, e.clusterID()), "This plan was made for another cluster.")
	case e.expiry.expired(spanOf(p), at) && at.Before(p.Expires):
		return changedError(planDifference("expiresAt", p.Expires.Format(time.RFC3339), at.Format(time.RFC3339)),
			"This plan has expired: the clock of the machine that shardboard runs on was set back after the plan was made, so its age "+
				"is uncertain. Make the plan again.")
	case !at.Before(p.Expires):
		return changedError(planDifference("expiresAt", p.Expires.Format(time.RFC3339), at.Format(time.RFC3339)),
			"This plan has expired: it was made at %s. Make the plan again.", p.Made.Format("15:04:05 MST"))
	case p.Blocked():
		return blockedError(p)
	case r.Confirm != p.Confirm:
		return fault.Wrap(fault.Invalid, errConfirm, "The confirmation is not the text that this plan asks for. Nothing was started.")
	}
	return nil
}

// adaptToChanges checks that the plan still fits the cluster. When the plan works
// towards a goal and the cluster has changed, the plan is replaced by what is left
// to do, within the confirmed limits; the returned adaptation says why.
func (e *Engine) adaptToChanges(ctx context.Context, p *actions.Plan, covered bool) (*Adaptation, error) {
	if p.Kind == actions.Batch {
		return e.adaptBatch(ctx, *p)
	}
	s, err := e.planAgain(ctx, *p, covered)
	var differs *ChangedError
	if !errors.As(err, &differs) || !actions.Describe(p.Kind).Adapts && p.UndoOf == "" {
		return nil, err
	}
	d, restErr := e.draftRest(ctx, s, p.Kind, p.Args, p.Summary, withoutPauses(p.Steps))
	if restErr != nil {
		return nil, err
	}
	d, commands, restErr := withinLimits(s.Release, d, p.Limits, 0)
	if restErr != nil || !covered && !e.coveredUndo(*p) && len(e.opts.Approval.Rules.Because(p.Kind, p.UndoOf != "", d)) > 0 {
		return nil, err
	}
	a := &Adaptation{At: e.now(), Because: differs.Differences, Before: len(p.Steps), After: len(d.Steps)}
	if len(d.Steps) > 0 { // otherwise every step will find its effect there
		first, last := pausesAndRestores(*p)
		p.Steps = slices.Concat(first.steps, d.Steps, last.steps)
		p.Commands = slices.Concat(first.commands, commands, last.commands)
	}
	return a, nil
}

// withoutPauses omits the steps that pause and restore balancing.
func withoutPauses(steps []operation.Step) (out []operation.Step) {
	for _, s := range steps {
		if !s.Pauses && !s.Restores {
			out = append(out, s)
		}
	}
	return out
}

// commandSteps are steps with the command of each.
type commandSteps struct {
	steps    []operation.Step
	commands []operation.Command
}

// pausesAndRestores returns the steps of a plan that pause balancing and those that
// restore it.
func pausesAndRestores(p actions.Plan) (first, last commandSteps) {
	for i, s := range p.Steps {
		switch {
		case s.Pauses:
			first.steps, first.commands = append(first.steps, s), append(first.commands, p.Commands[i])
		case s.Restores:
			last.steps, last.commands = append(last.steps, s), append(last.commands, p.Commands[i])
		}
	}
	return first, last
}

// createRun saves a run and starts it. A run that is returned without an error
// survives a crash of the process.
func (e *Engine) createRun(asked context.Context, t *term, by auth.Principal, p actions.Plan, adapted *Adaptation, approved *RunApproval,
) (Run, bool, error) {
	ctx, cancel := asLeader(t.ctx, asked)
	defer cancel()
	run, err := e.newRun(by, p, adapted)
	if err != nil {
		return Run{}, false, err
	}
	run.Approval = approved
	x, err := e.startRun(ctx, t, by, p.Hash, run)
	if err != nil {
		return Run{}, false, err
	}
	return x.current(), true, nil
}

// newRun is the run of a plan before it begins.
func (e *base) newRun(by auth.Principal, p actions.Plan, adapted *Adaptation) (Run, error) {
	id, err := e.newID()
	if err != nil {
		return Run{}, err
	}
	run := Run{
		ID: id, Plan: p.ID, Cluster: p.Cluster, Kind: p.Kind, Args: p.Args, Summary: p.Summary, State: Planned,
		By: by.ID, ByName: by.NameAndOwner(), Reason: p.Reason, Started: e.now(), UndoOf: p.UndoOf, Seq: 1,
		Steps: newSteps(p.Steps, p.Commands), Rows: uncountedRows(p.Rows), Limits: p.Limits,
	}
	if adapted != nil {
		run.Adaptations = []Adaptation{*adapted}
	}
	if run.Batch = newBatch(p, run.Started); run.Batch != nil {
		run.Args.Plans, run.Steps = nil, []Step{} // they stand in the plan
	}
	return run, nil
}

// startRun saves a new run and executes it. With an error it may still return the execution,
// which then ends the run in case it was saved.
func (e *Engine) startRun(ctx context.Context, t *term, by auth.Principal, hash string, run Run) (*execution, error) {
	details := map[string]string{"plan": run.Plan, "hash": hash, "kindOfPlan": string(run.Kind)}
	if run.Parent != "" {
		details["batch"], details["item"] = run.Parent, fmt.Sprint(run.Item)
	}
	if run.Approval != nil {
		details["approvedBy"] = run.Approval.By
	}
	if err := e.writeAudit(ctx, by, auditRunStarted, run.ID, "ok", details); err != nil {
		return nil, fmt.Errorf("record run: %w", err)
	}
	record, err := encodeRun(run)
	if err != nil {
		return nil, err
	}
	x := newExecution(e, t, run)
	if err := e.opts.Journal.AddRun(ctx, record); err != nil {
		e.launch(t, x, x.endUnsaved)
		return x, fmt.Errorf("save run: %w", err)
	}
	if !e.launch(t, x, x.execute) {
		return nil, fault.New(fault.Unavailable, "shardboard is shutting down, or another one leads now; nothing was started.")
	}
	return x, nil
}
