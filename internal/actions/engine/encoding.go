package engine

import (
	"encoding/json"
	"errors"
	"fmt"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

// encodePlan turns a plan into the stored form: JSON with BSON as base64, so that
// every byte of a command is preserved.
func encodePlan(p actions.Plan) (store.PlanRecord, error) {
	body, err := json.Marshal(p)
	if err != nil {
		return store.PlanRecord{}, fmt.Errorf("encode plan: %w", err)
	}
	return store.PlanRecord{ID: p.ID, Cluster: p.Cluster, By: p.By.ID, Kind: string(p.Kind), Hash: p.Hash,
		Made: p.Made, Expires: p.Expires, Body: body}, nil
}

func decodePlan(r store.PlanRecord) (p actions.Plan, err error) {
	if err := json.Unmarshal(r.Body, &p); err != nil {
		return p, fault.Wrap(fault.Unavailable, errors.Join(ErrUnreadable, err),
			"Plan %s is unreadable: its row in the database is damaged. The audit record says who made it and why.",
			r.ID)
	}
	return p, nil
}

func encodeRun(r Run) (store.RunRecord, error) {
	body, err := json.Marshal(r)
	if err != nil {
		return store.RunRecord{}, fmt.Errorf("encode run: %w", err)
	}
	return store.RunRecord{ID: r.ID, Plan: r.Plan, Cluster: r.Cluster, By: r.By, State: string(r.State),
		Open: r.State.Open(), Started: r.Started, Ended: r.Ended, Body: body}, nil
}

func decodeRun(r store.RunRecord) (run Run, err error) {
	if err := json.Unmarshal(r.Body, &run); err != nil {
		return run, fmt.Errorf("decode run %s: %w", r.ID, errors.Join(ErrUnreadable, err))
	}
	return run, nil
}

// readableRun decodes a run. Of a run that cannot be decoded it returns what is
// stored in the other columns, so that one damaged row hides neither itself nor
// other runs.
func (e *base) readableRun(r store.RunRecord) Run {
	run, err := decodeRun(r)
	if err == nil {
		return run
	}
	if _, told := e.loggedUnreadable.LoadOrStore(r.ID, true); !told {
		e.opts.Log.Error("a run is unreadable", "run", r.ID, "err", err)
	}
	unreadable := message.New("run.unreadable",
		"This run is unreadable: its row in the database is damaged. The audit record says what it did.")
	return Run{ID: r.ID, Plan: r.Plan, Cluster: r.Cluster, Kind: Unreadable, Summary: message.New("plan.unreadable",
		"unreadable: this run’s row in the database is damaged"), Why: unreadable,
		State: State(r.State), By: r.By, Started: r.Started, Ended: r.Ended, Seq: uint64(max(r.Seq, 0))}
}

// Unreadable is the kind of a run whose record cannot be decoded.
const Unreadable actions.Kind = "unreadable"

// ErrUnreadable reports that a stored plan or run cannot be decoded.
var ErrUnreadable = errors.New("not as it was written")

// errUnreadableRun is why an unreadable run can be neither undone nor finished.
var errUnreadableRun = fault.New(fault.Conflict,
	"This run is unreadable, so its steps are not known here. See the audit record and the cluster's changelog, and make a new plan.")
