package engine

import (
	"context"
	"fmt"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
)

// Codes of the events that are recorded.
const (
	auditPlanMade    = "plan.made"
	auditPlanRefused = "plan.refused"
	auditRunStarted  = "run.started"

	auditPlanApproved   = "plan.approved"
	auditPlanRejected   = "plan.rejected" // somebody said that it must not be run
	auditApproveRefused = "plan.approve.refused"

	auditRunRefused = "run.refused" // a request to run a plan, before a run exists
	auditRunStep    = "run.step"
	auditRunAdapted = "run.adapted" // the rest of the run was planned again
	auditRunStop    = "run.stop"
	auditRunPaused  = "run.paused"  // a batch, by a person or by itself
	auditRunResumed = "run.resumed" // a batch, or a decision about one of its items
	auditRunEnded   = "run.ended"
)

// writeAudit appends an entry to the audit record.
func (e *base) writeAudit(ctx context.Context, by auth.Principal, what, subject, outcome string, details map[string]string) error {
	if e.opts.Audit == nil {
		return nil
	}
	_, err := e.opts.Audit.Append(ctx, store.AuditEntry{Cluster: e.clusterID(), At: e.now(), By: by.ID, Via: string(by.Method), From: by.From,
		What: what, Subject: subject, Outcome: outcome, Details: details})
	return err
}

// tryAudit writes an audit entry. It logs a failure and returns false.
func (e *base) tryAudit(ctx context.Context, by auth.Principal, what, subject, outcome string, details map[string]string) bool {
	err := e.writeAudit(ctx, by, what, subject, outcome, details)
	if err != nil {
		e.opts.Log.Error("write audit record", "what", what, "subject", subject, "err", err)
	}
	return err == nil
}

// auditRefusal records that a request was refused and returns the refusal. A failure
// to record it is only logged, because nothing was done.
func (e *base) auditRefusal(ctx context.Context, by auth.Principal, what, subject string, details map[string]string, err error) error {
	if details == nil {
		details = map[string]string{}
	}
	details["kind"], details["text"] = fault.Of(err).String(), fault.Text(err)
	// The refusal is recorded even when the caller has gone away.
	e.tryAudit(context.WithoutCancel(ctx), by, what, subject, "refused", details)
	return err
}

// audit records an event of the run and retries until the entry is on disk; the run
// does not continue before that. It returns false when the process ends.
func (x *execution) audit(what, outcome string, details map[string]string) bool {
	by := auth.Principal{ID: x.current().By}
	return retrySaving(x.ctx, func() bool {
		ctx, cancel := context.WithTimeout(x.ctx, saveTimeout)
		defer cancel()
		written := x.e.tryAudit(ctx, by, what, x.id, outcome, details)
		if !written {
			x.updateMemory(func(r *Run) { r.Why = runUnsaved })
		}
		return written
	})
}

// auditOutcome maps a state to the outcome in the audit record.
func auditOutcome(s State) string {
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

// stepAuditDetails are the details of a step in the audit record.
func stepAuditDetails(i int, s Step) map[string]string {
	details := map[string]string{"step": fmt.Sprint(i), "op": string(s.Op), "state": string(s.State)}
	if s.Why.Code != "" {
		details["why"] = s.Why.Code
	}
	if s.Error != "" {
		details["text"] = s.Error
	}
	return details
}
