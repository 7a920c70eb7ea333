package engine

import (
	"context"
	"fmt"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// Stop holds a run before its next command. Whoever may run plans may stop any
// run. It is on disk when Stop returns without an error; it is also obeyed when
// the disk does not take it.
func (e *Engine) Stop(ctx context.Context, by auth.Principal, id string) (Run, error) {
	run, err := e.stop(ctx, by, id)
	if err != nil {
		return run, e.refuse(ctx, by, auditRunStop, id, nil, err)
	}
	return run, nil
}

func (e *Engine) stop(ctx context.Context, by auth.Principal, id string) (Run, error) {
	if !by.May(auth.Operator) {
		return Run{}, errRole(auth.Operator)
	}
	x := e.executing(id)
	if x == nil {
		if err := e.o.Journal.Writable(); err != nil {
			return Run{}, err // another process may be executing it
		}
		return e.RunByID(ctx, id) // has ended, or there is none
	}
	if !x.halt() {
		return x.now(), nil // asked for already
	}
	at := now()
	change := func(r *Run) { r.StopBy, r.StopAt = by.ID, at }
	err := x.save(ctx, change)
	if err != nil {
		x.show(change)
		err = fault.Wrap(fault.Unavailable, err, "The run is held, but that could not be written down: %s", fault.Text(err))
	}
	close(x.stop)
	r := x.now()
	details := map[string]string{"state": string(r.State)}
	if i := r.InFlight(); i >= 0 {
		details["inFlight"] = fmt.Sprint(i)
	}
	if err := e.record(ctx, by, auditRunStop, id, "ok", details); err != nil {
		return r, fault.Wrap(
			fault.Unavailable,
			err,
			"The run is held, but who stopped it could not be put into the audit record: %s",
			fault.Text(err),
		)
	}
	return r, err
}

// halt is true for the first who wants to stop.
func (x *execution) halt() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.halting || x.run.StopBy != "" {
		return false
	}
	x.halting = true
	return true
}
