package engine

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"slices"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// Run starts a plan, once.
func (e *Engine) Run(ctx context.Context, by auth.Principal, plan string, r RunRequest) (Run, bool, error) {
	run, created, err := e.run(ctx, by, plan, r)
	if err != nil {
		return Run{}, false, e.refuse(ctx, by, auditRunRefused, plan, map[string]string{"why": whyOf(err)}, err)
	}
	return run, created, nil
}

func (e *Engine) run(ctx context.Context, by auth.Principal, id string, r RunRequest) (Run, bool, error) {
	if !by.May(auth.Operator) {
		return Run{}, false, errRole(auth.Operator)
	}
	if err := e.o.Journal.Writable(); err != nil {
		return Run{}, false, err
	}
	if err := e.awaitReady(ctx); err != nil {
		return Run{}, false, err
	}
	unlock, err := e.starting.lock(ctx, id)
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
		return Run{}, false, fault.New(fault.Conflict, "This plan is somebody else's. Make one of your own: it is checked afresh.")
	case subtle.ConstantTimeCompare([]byte(p.Hash), []byte(r.Hash)) != 1:
		return Run{}, false, changed(
			other("hash", p.Hash, sanitize.Truncate(r.Hash, shownOfInput)),
			"This is not the plan that was shown: its hash differs. Look at the plan again.",
		)
	}
	if run, err := e.RunOfPlan(ctx, id); err == nil || fault.Of(err) != fault.NotFound {
		return run, false, err
	}
	if err := e.mayRun(by, p, r); err != nil {
		return Run{}, false, err
	}
	adapted, err := e.unchanged(ctx, &p)
	if err != nil {
		return Run{}, false, without(err, "Nothing was started; the plan stands until "+p.Expires.UTC().Format("15:04:05 UTC")+".")
	}
	return e.start(ctx, by, p, adapted)
}

// mayRun is what can be said without the cluster.
func (e *Engine) mayRun(by auth.Principal, p actions.Plan, r RunRequest) error {
	at := now()
	switch {
	case !by.May(p.Role):
		return errRole(p.Role)
	case p.Cluster != e.cluster():
		return changed(other("clusterId", p.Cluster, e.cluster()), "This plan was made for another cluster.")
	case e.ages.expired(p, at) && at.Before(p.Expires):
		return changed(
			other("expiresAt", p.Expires.Format(time.RFC3339), at.Format(time.RFC3339)),
			"This plan has expired: the clock of the machine that shardboard runs on was set back after it was made, and by that clock it "+
				"would be good for too long. Make it again.",
		)
	case !at.Before(p.Expires):
		return changed(
			other("expiresAt", p.Expires.Format(time.RFC3339), at.Format(time.RFC3339)),
			"This plan has expired: it was made at %s. Make it again.",
			p.Made.Format("15:04:05 MST"),
		)
	case p.Blocked():
		return blocked(p)
	case r.Confirm != p.Confirm:
		return fault.Wrap(fault.Invalid, errConfirm, "The confirmation is not the text that this plan wants typed. Nothing was started.")
	}
	return nil
}

var errConfirm = fmt.Errorf("wrong confirmation")

// unchanged drafts the plan again and compares. A plan with a goal that the
// cluster has moved on from is replaced by what is left of it, within its limits;
// the adaptation says why.
func (e *Engine) unchanged(ctx context.Context, p *actions.Plan) (*Adaptation, error) {
	s, err := e.compare(ctx, *p)
	var moved *ChangedError
	if !errors.As(err, &moved) || !p.Kind.Adapts() && p.UndoOf == "" {
		return nil, err
	}
	d, stays := e.rest(ctx, s, p.Kind, p.Args, p.Summary, planned(p.Steps))
	if stays != nil {
		return nil, err
	}
	d, commands, stays := e.withinLimits(d, p.Limits, 0)
	if stays != nil {
		return nil, err
	}
	a := &Adaptation{At: now(), Because: moved.Differences, Before: len(p.Steps), After: len(d.Steps)}
	if len(d.Steps) > 0 { // else each step finds its effect there
		first, last := around(*p)
		p.Steps = slices.Concat(first.steps, d.Steps, last.steps)
		p.Commands = slices.Concat(first.commands, commands, last.commands)
	}
	return a, nil
}

// planned are steps without those that pause and restore.
func planned(steps []actions.Step) (out []actions.Step) {
	for _, s := range steps {
		if !s.Pauses && !s.Restores {
			out = append(out, s)
		}
	}
	return out
}

type part struct {
	steps    []actions.Step
	commands []actions.Command
}

// around are the steps of a plan that pause, and those that restore.
func around(p actions.Plan) (first, last part) {
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

// compare drafts the plan again, and tells what is different now. The situation is
// the one that it was drafted from.
func (e *Engine) compare(ctx context.Context, p actions.Plan) (actions.Situation, error) {
	s, fresh, err := e.drawn(ctx, Request{Kind: p.Kind, Args: p.Args, UndoOf: p.UndoOf})
	return s, e.differs(s, p, fresh, err)
}

// differs tells what of a plan is not as it is drafted now; err is that of drafting.
func (e *Engine) differs(s actions.Situation, p, fresh actions.Plan, err error) error {
	table := func(f actions.Fact) map[string]string { return actions.Fields(s.Table, f) }
	const otherwise = "The cluster is not as it was when the plan was made. Make the plan again."
	switch {
	case err != nil && fault.Of(err) == fault.Unavailable:
		return err
	case err != nil:
		return changed(changes(p, actions.Plan{}, table), "The plan can't be made any more: %s", fault.Text(err))
	case fresh.Hash == p.Hash && fresh.Blocked():
		return blocked(fresh)
	case fresh.Hash == p.Hash:
		if d := actions.MaintenanceClosed(p.Checks, fresh.Checks); d != nil {
			return changed(
				d,
				"The maintenance window has closed since the plan was made. Make the plan again: outside the window it has to be confirmed by typing.",
			)
		}
		return nil
	}
	// What changed says more than the check that blocks because of it.
	if facts := changedFacts(p, fresh, table); len(facts) > 0 {
		return changed(facts, otherwise)
	}
	if fresh.Blocked() {
		return blocked(fresh)
	}
	return changed(changes(p, fresh, table), otherwise)
}

// other is a difference in what a plan itself is, rather than in the cluster.
func other(field, want, got string) []actions.Difference {
	return []actions.Difference{{Field: field, Want: want, Got: got}}
}

func changed(d []actions.Difference, format string, args ...any) error {
	return &ChangedError{Differences: d, Err: fault.New(fault.Conflict, format, args...)}
}

func blocked(p actions.Plan) error {
	e := &BlockedError{Err: fault.New(fault.Conflict, "A check forbids to run this plan.")}
	for _, c := range p.Checks {
		if c.Verdict == actions.Block {
			e.Checks = append(e.Checks, c)
		}
	}
	return e
}

// start keeps the run and lets it go. Whoever gets a run without an error can
// find it after a crash too.
func (e *Engine) start(ctx context.Context, by auth.Principal, p actions.Plan, adapted *Adaptation) (Run, bool, error) {
	id, err := e.newID()
	if err != nil {
		return Run{}, false, err
	}
	run := Run{
		ID: id, Plan: p.ID, Cluster: p.Cluster, Kind: p.Kind, Args: p.Args, Summary: p.Summary, State: Planned,
		By: by.ID, ByName: by.Name, Reason: p.Reason, Started: now(), UndoOf: p.UndoOf, Seq: 1,
		Rows: toCount(p.Rows), Limits: p.Limits,
	}
	if adapted != nil {
		run.Adaptations = []Adaptation{*adapted}
	}
	for i, s := range p.Steps {
		run.Steps = append(run.Steps, Step{Step: s, Command: p.Commands[i], State: Planned})
	}
	if err := e.record(ctx, by, auditRunStarted, id, "ok",
		map[string]string{"plan": p.ID, "hash": p.Hash, "kindOfPlan": string(p.Kind)}); err != nil {
		return Run{}, false, fmt.Errorf("record run: %w", err)
	}
	record, err := runRecord(run)
	if err != nil {
		return Run{}, false, err
	}
	x := newExecution(e, run)
	if err := e.o.Journal.AddRun(ctx, record); err != nil {
		e.begin(x, x.abandon)
		return Run{}, false, fmt.Errorf("save run: %w", err)
	}
	if !e.begin(x, x.main) {
		return Run{}, false, fault.New(fault.Unavailable, "shardboard is ending; nothing was started.")
	}
	return x.now(), true, nil
}
