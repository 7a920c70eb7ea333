package engine

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// endRun ends the run. When the run is an undo, the run that it undid is marked and
// the end is recorded before this run is saved: after a crash in between, this run
// is still open and the next process comes here again.
func (x *execution) endRun(s State, why message.Message) {
	if !x.restoreBalancing() {
		return
	}
	x.updateAuthors()
	x.refreshTable()
	rows := x.countAfter()
	if x.ctx.Err() != nil {
		return
	}
	if of := x.current().UndoOf; s == Succeeded && of != "" && !x.markUndone(of) {
		return
	}
	details := map[string]string{"plan": x.current().Plan, "state": string(s)}
	if why.Code != "" {
		details["why"] = why.Code
	}
	if !x.audit(auditRunEnded, auditOutcome(s), details) {
		return
	}
	at := x.e.now()
	x.persist(func(r *Run) {
		r.State, r.Why, r.Ended, r.Rows = s, why, at, rows
		r.Resolved = slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Resolved })
	})
}

// refreshTable reads the table again before a run is shown as ended, so that every
// page shows the effect of a run that has succeeded. It waits no longer than
// finalRefreshTimeout for the cluster.
func (x *execution) refreshTable() {
	r := x.current()
	if !slices.ContainsFunc(r.Steps, func(s Step) bool { return !s.Sent.IsZero() || s.Already != "" }) {
		return
	}
	ctx, cancel := context.WithTimeout(x.ctx, finalRefreshTimeout)
	defer cancel()
	if err := x.e.opts.Tables.Refresh(ctx); err != nil && x.ctx.Err() == nil {
		x.e.opts.Log.Warn("refresh the table at the end of a run", "run", r.ID, "err", err)
	}
}

const finalRefreshTimeout = 5 * time.Second

// endUnsaved ends a run that was reported as not started because saving it failed.
// The failed write may still have reached the disk, which is looked up first.
func (x *execution) endUnsaved() {
	var err error
	known := retrySaving(x.ctx, func() bool {
		_, err = x.e.opts.Journal.RunRecord(x.ctx, x.id)
		return err == nil || fault.Of(err) == fault.NotFound
	})
	if known && err == nil {
		x.endRun(Stopped, message.New("run.notBegun",
			"The run could not be saved at its start, so it did not begin. Nothing was sent."))
	}
}

// markUndone marks another run, which has ended, as undone by this one. It returns
// false when the process ends.
func (x *execution) markUndone(id string) bool {
	return retrySaving(x.ctx, func() bool {
		err := x.e.saveUndone(x.ctx, id, x.id)
		if err != nil {
			x.e.opts.Log.Error("mark run as undone", "run", id, "err", err)
		}
		return err == nil
	})
}

func (e *base) saveUndone(ctx context.Context, id, by string) error {
	record, err := e.opts.Journal.RunRecord(ctx, id)
	if err != nil {
		return err
	}
	r, err := decodeRun(record)
	if err != nil { // retrying would not help
		e.opts.Log.Error("mark run as undone", "run", id, "err", err)
		return nil
	}
	r.State, r.UndoneBy, r.Seq = Undone, by, r.Seq+1
	if record, err = encodeRun(r); err != nil {
		return err
	}
	if err := e.opts.Journal.SaveRun(ctx, record); err != nil {
		return err
	}
	e.subscribers.Notify()
	return nil
}
