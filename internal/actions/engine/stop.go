package engine

import (
	"context"
	"fmt"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// Stop stops a run before its next command. Everybody who may run plans may stop any
// run. When Stop returns without an error, the request is on disk; the run also
// stops when it could not be saved.
func (e *Engine) Stop(ctx context.Context, by auth.Principal, id string) (Run, error) {
	run, err := e.requestStop(ctx, by, id)
	if err != nil {
		return run, e.auditRefusal(ctx, by, auditRunStop, id, nil, err)
	}
	return run, nil
}

func (e *Engine) requestStop(ctx context.Context, by auth.Principal, id string) (Run, error) {
	if !by.May(auth.Operator) {
		return Run{}, roleError(auth.Operator)
	}
	x := e.executionOf(id)
	if x == nil {
		if err := e.opts.Journal.Writable(); err != nil {
			return Run{}, err // another process may be executing it
		}
		return e.RunByID(ctx, id) // the run has ended or does not exist
	}
	if !x.claimStop() {
		return x.current(), nil // somebody else is already stopping it
	}
	at := e.now()
	change := func(r *Run) { r.StopBy, r.StopAt = by.ID, at }
	saving, cancel := asLeader(x.ctx, ctx)
	defer cancel()
	err := x.save(saving, change)
	if err != nil {
		x.updateMemory(change)
		err = fault.Wrap(fault.Unavailable, err, "The run is stopped, but that could not be saved: %s", fault.Text(err))
	}
	close(x.stopSignal)
	r := x.current()
	details := map[string]string{"state": string(r.State)}
	if i := r.InFlight(); i >= 0 {
		details["inFlight"] = fmt.Sprint(i)
	}
	if err := e.writeAudit(ctx, by, auditRunStop, id, "ok", details); err != nil {
		return r, fault.Wrap(fault.Unavailable, err,
			"The run is stopped, but who stopped it could not be written to the audit record: %s", fault.Text(err))
	}
	return r, err
}

// claimStop returns true for the first request to stop the run.
func (x *execution) claimStop() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.stopClaimed || x.run.StopBy != "" {
		return false
	}
	x.stopClaimed = true
	return true
}
