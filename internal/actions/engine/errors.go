package engine

import (
	"errors"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
)

// ChangedError is a plan that the cluster does not fit any more, field by field.
// Its kind is fault.Conflict.
type ChangedError struct {
	Differences []actions.Difference // without a fact: of the plan itself (hash, clusterId, expiresAt, command)
	Err         *fault.Error
}

func (e *ChangedError) Error() string { return e.Err.Error() }

// Unwrap gives the classification.
func (e *ChangedError) Unwrap() error { return e.Err }

// BlockedError is a plan that must not be run as things are. The API answers
// 422 with the checks; its kind is fault.Conflict for everybody else.
type BlockedError struct {
	Checks []actions.Check // those that block
	Err    *fault.Error
}

func (e *BlockedError) Error() string { return e.Err.Error() }

// Unwrap gives the classification.
func (e *BlockedError) Unwrap() error { return e.Err }

// whyOf is why a request to run was refused, as a catalogue code.
func whyOf(err error) string {
	var c *ChangedError
	var b *BlockedError
	switch {
	case errors.As(err, &c):
		return "changed"
	case errors.As(err, &b):
		return "blocked"
	case errors.Is(err, errConfirm):
		return "confirmation"
	}
	return fault.Of(err).String()
}
