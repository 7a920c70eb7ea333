package engine

import (
	"errors"

	"shardboard/internal/actions"
	"shardboard/internal/actions/operation"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
)

// ChangedError reports that the cluster no longer matches a plan, field by field.
// Its kind is fault.Conflict.
type ChangedError struct {
	Differences []operation.Difference // those without a fact concern the plan itself: hash, clusterId, expiresAt, command
	Err         *fault.Error
}

func (e *ChangedError) Error() string { return e.Err.Error() }

// Unwrap returns the classified error.
func (e *ChangedError) Unwrap() error { return e.Err }

func changedError(d []operation.Difference, format string, args ...any) error {
	return &ChangedError{Differences: d, Err: fault.New(fault.Conflict, format, args...)}
}

// planDifference is a difference in the plan itself rather than in the cluster.
func planDifference(field, want, got string) []operation.Difference {
	return []operation.Difference{{Field: field, Want: want, Got: got}}
}

// BlockedError reports that a check blocks a plan. The API answers 422 with the
// checks; every other caller sees fault.Conflict.
type BlockedError struct {
	Checks []actions.Check // the blocking ones
	Err    *fault.Error
}

func (e *BlockedError) Error() string { return e.Err.Error() }

// Unwrap returns the classified error.
func (e *BlockedError) Unwrap() error { return e.Err }

// refusalText says why something was refused; of checks that block, the first says what is in the way.
func refusalText(err error) string {
	var blocked *BlockedError
	if errors.As(err, &blocked) && len(blocked.Checks) > 0 {
		return "A check blocks it. " + blocked.Checks[0].Text.String()
	}
	return fault.Text(err)
}

func blockedError(p actions.Plan) error {
	e := &BlockedError{Err: fault.New(fault.Conflict, "A check blocks this plan.")}
	for _, c := range p.Checks {
		if c.Verdict == actions.Block {
			e.Checks = append(e.Checks, c)
		}
	}
	return e
}

func roleError(r auth.Role) error {
	return fault.New(fault.Forbidden, "This needs the role %s.", r)
}

var errConfirm = errors.New("wrong confirmation")

// errSelfApproval marks the attempt to approve one's own plan.
var errSelfApproval = errors.New("own plan")

// refusalReason is the code that the audit record keeps for a refused request to run
// a plan.
func refusalReason(err error) string {
	var c *ChangedError
	var b *BlockedError
	switch {
	case errors.As(err, &c):
		return "changed"
	case errors.As(err, &b):
		return "blocked"
	case errors.Is(err, errConfirm):
		return "confirmation"
	case errors.Is(err, errNotApproved):
		return "approval"
	case errors.Is(err, errSelfApproval):
		return "self"
	}
	return fault.Of(err).String()
}
