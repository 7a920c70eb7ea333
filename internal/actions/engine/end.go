package engine

import (
	"context"
	"slices"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/message"
)

// end ends the run. The run that it undoes is marked first, and its end recorded:
// a crash in between leaves this one open, and settling it comes here again.
func (x *execution) end(s State, why message.Message) {
	if !x.restore() {
		return
	}
	x.attribute()
	x.e.reread(x.now())
	rows := x.countAfter()
	if x.e.life.Err() != nil {
		return
	}
	if of := x.now().UndoOf; s == Succeeded && of != "" && !x.markUndone(of) {
		return
	}
	details := map[string]string{"plan": x.now().Plan, "state": string(s)}
	if why.Code != "" {
		details["why"] = why.Code
	}
	if !x.recorded(auditRunEnded, outcomeOf(s), details) {
		return
	}
	at := now()
	x.keep(func(r *Run) {
		r.State, r.Why, r.Ended, r.Rows = s, why, at, rows
		r.Resolved = slices.ContainsFunc(r.Steps, func(s Step) bool { return s.Resolved })
	})
}

// reread brings the table up to date with what a run has changed before the run
// is told to have ended: whoever reads that it has succeeded finds it so on every
// page. A cluster that does not answer is waited for no longer than rereadTime.
func (e *Engine) reread(r Run) {
	if !slices.ContainsFunc(r.Steps, func(s Step) bool { return !s.Sent.IsZero() || s.Already != "" }) {
		return
	}
	ctx, cancel := context.WithTimeout(e.life, rereadTime)
	defer cancel()
	if err := e.o.Tables.Refresh(ctx); err != nil && e.life.Err() == nil {
		e.o.Log.Warn("refresh the table at the end of a run", "run", r.ID, "err", err)
	}
}

const rereadTime = 5 * time.Second

// abandon ends a run that was told to have failed to begin. Whether it is on disk
// is not known: a failed write may have been one.
func (x *execution) abandon() {
	for pause := saveAgain; ; pause = min(2*pause, saveLonger) {
		_, err := x.e.o.Journal.RunRecord(x.e.life, x.id)
		switch {
		case err == nil:
			x.end(Stopped, message.New("run.notBegun",
				"The run could not be saved at its start, so it did not begin. Nothing was sent."))
			return
		case fault.Of(err) == fault.NotFound:
			return
		}
		if !x.pause(pause) {
			return
		}
	}
}

func outcomeOf(s State) string {
	switch s {
	case Succeeded:
		return "ok"
	case Refused, Stopped, Deferred, Replaced:
		return "refused"
	case Unknown:
		return "unknown"
	}
	return "failed"
}

// markUndone says of another run, which has ended, that this one has undone it.
// False at the end of the process.
func (x *execution) markUndone(id string) bool {
	for pause := saveAgain; ; pause = min(2*pause, saveLonger) {
		err := x.e.undone(x.e.life, id, x.id)
		if err == nil {
			return true
		}
		x.e.o.Log.Error("mark run as undone", "run", id, "err", err)
		if !x.pause(pause) {
			return false
		}
	}
}

func (e *Engine) undone(ctx context.Context, id, by string) error {
	record, err := e.o.Journal.RunRecord(ctx, id)
	if err != nil {
		return err
	}
	r, err := runOf(record)
	if err != nil { // what cannot be read cannot be marked either, now or later
		e.o.Log.Error("mark run as undone", "run", id, "err", err)
		return nil
	}
	r.State, r.UndoneBy, r.Seq = Undone, by, r.Seq+1
	if record, err = runRecord(r); err != nil {
		return err
	}
	if err := e.o.Journal.SaveRun(ctx, record); err != nil {
		return err
	}
	e.subscribers.Notify()
	return nil
}
