package store

import (
	"context"
	"time"
)

// ApprovalRecord is the request to approve a plan, and later its answer. A plan has at most one. Only
// its writer interprets Body.
type ApprovalRecord struct {
	Plan    string // the plan's id
	Cluster string
	State   string    // such as ApprovalAsked
	Until   time.Time // how long it counts: a request as long as the plan can be run
	Body    []byte
	Seal    []byte // by package seal; nil: none
}

// The states that stores and package seal know.
const (
	ApprovalAsked = "asked"    // nobody has answered
	ApprovalGiven = "approved" // by a second person
)

// Approvals stores what a second person said about plans. It goes with its plan: DropPlans deletes
// both.
type Approvals interface {
	// AddApproval stores the first record of a plan; Conflict when it has one, NotFound without the plan.
	AddApproval(ctx context.Context, a ApprovalRecord) error
	// SaveApproval adds the record of a plan or replaces it; NotFound without the plan.
	SaveApproval(ctx context.Context, a ApprovalRecord) error
	// Approval returns the record of a plan; NotFound.
	Approval(ctx context.Context, plan string) (ApprovalRecord, error)
	// ApprovalsAsked returns the requests in a cluster that nobody has answered and that count after a
	// time, those that end first first.
	ApprovalsAsked(ctx context.Context, cluster string, after time.Time, limit int) ([]ApprovalRecord, error)
}
