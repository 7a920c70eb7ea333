package engine

import (
	"context"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
)

// Service is what pages, the API and tests use of an Engine.
type Service interface {
	// Plan makes a plan and saves it; it changes nothing in the cluster, so it also
	// serves as the dry run. Errors: fault.Invalid (no reason, unknown kind, wrong
	// arguments), NotFound, Forbidden (role), Unavailable (no table yet, read-only store).
	Plan(ctx context.Context, by auth.Principal, r Request) (actions.Plan, error)
	// Run starts a plan, once: a second request of the same principal returns the same
	// run, with created false. Errors: NotFound (no such plan), Forbidden, Conflict
	// (another principal's plan or run, expired, wrong hash; *ChangedError when the
	// cluster differs from the plan), Invalid (confirmation; 400), *BlockedError (422).
	Run(ctx context.Context, by auth.Principal, plan string, r RunRequest) (run Run, created bool, err error)
	// Stop stops a run before its next command; a command in flight continues. A run
	// that has ended does not change.
	Stop(ctx context.Context, by auth.Principal, run string) (Run, error)
	// Pause lets a batch begin no further item. Errors: NotFound, Conflict (no batch, ended or stopped, an item
	// waits for a decision).
	Pause(ctx context.Context, by auth.Principal, run string) (Run, error)
	// Resume lets a paused batch go on. Its errors are those of Pause.
	Resume(ctx context.Context, by auth.Principal, run string, r ResumeRequest) (Run, error)
	// BatchItems lists items of a batch, those after a number; NotFound for another run.
	BatchItems(ctx context.Context, run string, after, limit int) ([]BatchItem, error)
	// Undo plans the inverse of what a run did, from the current table.
	Undo(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error)
	// Finish plans the rest of a run that ended early, from the current table. It
	// returns Conflict when the run is open, has succeeded or was undone.
	Finish(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error)

	// Approve approves a plan of somebody else by its hash; repeating it changes nothing. Errors: NotFound,
	// Forbidden (role; the plan's maker; a token without a known owner), Conflict (none needed, approved
	// already, expired, run already, wrong hash), *BlockedError.
	Approve(ctx context.Context, by auth.Principal, plan, hash string) (Approval, error)
	// Refuse says that a plan that needs approval must not be run, or takes an approval back.
	Refuse(ctx context.Context, by auth.Principal, plan, reason string) (Approval, error)
	// ApprovalOf is the state of a plan's approval.
	ApprovalOf(ctx context.Context, p actions.Plan) (Approval, error)
	// AwaitingApproval lists plans of this cluster that nobody has approved yet, those that end first first.
	AwaitingApproval(ctx context.Context, limit int) ([]ApprovalRequest, error)

	// PlanByID returns fault.NotFound when there is none.
	PlanByID(ctx context.Context, id string) (actions.Plan, error)
	// RunByID returns fault.NotFound when there is none.
	RunByID(ctx context.Context, id string) (Run, error)
	// RunOfPlan is the run of a plan; fault.NotFound when it has not been run.
	RunOfPlan(ctx context.Context, plan string) (Run, error)
	// UnrunPlans lists plans of this cluster that are kept and were never run, newest first.
	UnrunPlans(ctx context.Context, limit int) ([]actions.Plan, error)
	// Runs lists a page of runs, newest first, after a cursor ("": from the newest).
	// next is the cursor of the next page, "" at the end.
	Runs(ctx context.Context, cursor string, limit int) (runs []Run, next string, err error)
	// OpenRuns are those that have not ended, oldest first.
	OpenRuns(ctx context.Context) ([]Run, error)
	// OpenBatches are the batches that have not ended, of this process or of the one that
	// leads. It reads memory only.
	OpenBatches() []Run
	// Subscribe returns a channel that receives a value after a run changed, and a
	// function that ends the subscription. Changes in quick succession share a value.
	Subscribe() (<-chan struct{}, func())
}

var _ Service = (*Engine)(nil)

// Request asks for a plan.
type Request struct {
	Kind   actions.Kind
	Args   actions.Args
	Reason string // required; kept in the audit record
	UndoOf string // id of the run to undo; set by the engine, not by callers
	NoWait bool   // its moves do not wait for the clean-up of their donors; likewise
}

// RunRequest confirms a plan.
type RunRequest struct {
	Hash    string // of the plan that was shown
	Confirm string // the text that the plan asks to be typed; "" when it asks for none
}

// Subscribe implements Service.
func (e *base) Subscribe() (<-chan struct{}, func()) { return e.subscribers.Subscribe() }
