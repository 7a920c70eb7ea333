package engine

import (
	"context"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// What is recorded, by catalogue code.
const (
	auditPlanMade    = "plan.made"
	auditPlanRefused = "plan.refused"
	auditRunStarted  = "run.started"
	auditRunRefused  = "run.refused" // a request to run, before there was a run
	auditRunStep     = "run.step"
	auditRunAdapted  = "run.adapted" // the rest was planned again
	auditRunStop     = "run.stop"
	auditRunEnded    = "run.ended"
)

// record puts something into the audit record.
func (e *Engine) record(ctx context.Context, by auth.Principal, what, subject, outcome string, details map[string]string) error {
	if e.o.Audit == nil {
		return nil
	}
	_, err := e.o.Audit.Append(ctx, store.AuditEntry{Cluster: e.cluster(), At: now(), By: by.ID, Via: string(by.Method), From: by.From,
		What: what, Subject: subject, Outcome: outcome, Details: details})
	return err
}

// refuse records that a request was refused and gives the refusal. That it
// could not be recorded is for the log: nothing was done.
func (e *Engine) refuse(ctx context.Context, by auth.Principal, what, subject string, details map[string]string, err error) error {
	if details == nil {
		details = map[string]string{}
	}
	details["kind"], details["text"] = fault.Of(err).String(), fault.Text(err)
	// A request that was given up is refused all the same.
	if err := e.record(context.WithoutCancel(ctx), by, what, subject, "refused", details); err != nil {
		e.o.Log.Error("write audit record", "what", what, "subject", subject, "err", err)
	}
	return err
}

// note records what happened to a run where more is recorded later.
func (e *Engine) note(by, what, subject, outcome string, details map[string]string) {
	if err := e.record(context.WithoutCancel(e.life), auth.Principal{ID: by}, what, subject, outcome, details); err != nil {
		e.o.Log.Error("write audit record", "what", what, "subject", subject, "err", err)
	}
}

// recorded records what happened to the run, again and again until it is on
// disk: until then the run does not go on. False at the end of the process.
func (x *execution) recorded(what, outcome string, details map[string]string) bool {
	by := auth.Principal{ID: x.now().By}
	for pause := saveAgain; ; pause = min(2*pause, saveLonger) {
		ctx, cancel := context.WithTimeout(x.e.life, saveTime)
		err := x.e.record(ctx, by, what, x.id, outcome, details)
		cancel()
		if err == nil {
			return true
		}
		x.e.o.Log.Error("write audit record", "what", what, "subject", x.id, "err", err)
		x.show(func(r *Run) { r.Why = runUnsaved })
		if !x.pause(pause) {
			return false
		}
	}
}
