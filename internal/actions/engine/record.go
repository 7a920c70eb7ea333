package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// planRecord is a plan in the form in which it is kept: JSON with BSON as
// base64, so that every byte of a command comes back.
func planRecord(p actions.Plan) (store.PlanRecord, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return store.PlanRecord{}, fmt.Errorf("encode plan: %w", err)
	}
	return store.PlanRecord{ID: p.ID, Cluster: p.Cluster, By: p.By.ID, Kind: string(p.Kind), Hash: p.Hash,
		Made: p.Made, Expires: p.Expires, Body: body}, nil
}

func planOf(r store.PlanRecord) (p actions.Plan, err error) {
	if err := json.Unmarshal(r.Body, &p); err != nil {
		return p, fault.Wrap(
			fault.Unavailable,
			errors.Join(ErrUnreadable, err),
			"The plan %s is unreadable: its row in the database is not as shardboard wrote it. The audit record says who made it and for what.",
			r.ID,
		)
	}
	return p, nil
}

func runRecord(r Run) (store.RunRecord, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return store.RunRecord{}, fmt.Errorf("encode run: %w", err)
	}
	return store.RunRecord{ID: r.ID, Plan: r.Plan, Cluster: r.Cluster, By: r.By, State: string(r.State),
		Open: r.State.Open(), Started: r.Started, Ended: r.Ended, Body: body}, nil
}

func runOf(r store.RunRecord) (run Run, err error) {
	if err := json.Unmarshal(r.Body, &run); err != nil {
		return run, fmt.Errorf("decode run %s: %w", r.ID, errors.Join(ErrUnreadable, err))
	}
	return run, nil
}

// shownRun is a run from its record. Of one that is unreadable it is what stands
// beside it: one damaged row hides no other, and is not hidden itself.
func (e *Engine) shownRun(r store.RunRecord) Run {
	run, err := runOf(r)
	if err == nil {
		return run
	}
	if _, told := e.unreadable.LoadOrStore(r.ID, true); !told {
		e.o.Log.Error("a run is unreadable", "run", r.ID, "err", err)
	}
	unreadable := message.New("run.unreadable",
		"This run is unreadable: its row in the database is damaged. The audit record says what it did.")
	return Run{ID: r.ID, Plan: r.Plan, Cluster: r.Cluster, Kind: Unreadable, Summary: message.New("plan.unreadable",
		"unreadable: this run’s row in the database is damaged"), Why: unreadable,
		State: State(r.State), By: r.By, Started: r.Started, Ended: r.Ended, Seq: uint64(max(r.Seq, 0))}
}

// Unreadable is the kind of a run whose record cannot be decoded.
const Unreadable actions.Kind = "unreadable"

// errUnknownSteps is why an unreadable run can be neither undone nor finished.
var errUnknownSteps = fault.New(
	fault.Conflict,
	"This run is unreadable, so what it has done is not known here. The audit record and the cluster's changelog tell; make a new plan.",
)

// ErrUnreadable is in the chain of what was kept and cannot be decoded.
var ErrUnreadable = errors.New("not as it was written")

// PlanByID gives a plan.
func (e *Engine) PlanByID(ctx context.Context, id string) (actions.Plan, error) {
	r, err := e.o.Journal.PlanRecord(ctx, id)
	if err != nil {
		return actions.Plan{}, err
	}
	return planOf(r)
}

// RunByID gives a run as it is now.
func (e *Engine) RunByID(ctx context.Context, id string) (Run, error) {
	if x := e.executing(id); x != nil {
		return x.now(), nil
	}
	r, err := e.o.Journal.RunRecord(ctx, id)
	if err != nil {
		return Run{}, err
	}
	return e.shownRun(r), nil
}

// RunOfPlan gives the run of a plan.
func (e *Engine) RunOfPlan(ctx context.Context, plan string) (Run, error) {
	r, err := e.o.Journal.PlanRun(ctx, plan)
	if err != nil {
		return Run{}, err
	}
	return e.newest(r), nil
}

// newest is a run from memory, where it is open, else from its record.
func (e *Engine) newest(r store.RunRecord) Run {
	if x := e.executing(r.ID); x != nil {
		return x.now()
	}
	return e.shownRun(r)
}

// listLimit bounds a page of runs.
const listLimit = 200

// Runs lists runs of this cluster, newest first.
func (e *Engine) Runs(ctx context.Context, cursor string, limit int) (runs []Run, next string, err error) {
	var before int64
	if cursor != "" {
		if before, err = strconv.ParseInt(cursor, 10, 64); err != nil || before <= 0 {
			return nil, "", fault.New(fault.Invalid, "This is no cursor of a list of runs.")
		}
	}
	if limit <= 0 || limit > listLimit {
		limit = listLimit
	}
	rows, err := e.o.Journal.RunRecords(ctx, e.cluster(), before, limit)
	if err != nil {
		return nil, "", err
	}
	for _, r := range rows {
		runs = append(runs, e.newest(r))
	}
	if len(rows) == limit {
		next = strconv.FormatInt(rows[len(rows)-1].Seq, 10)
	}
	return runs, next, nil
}
