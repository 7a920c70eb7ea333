package actions

import (
	"shardboard/internal/actions/operation"
	"time"
)

// Indexes are the indexes of a collection, as far as they were read for a plan.
type Indexes struct {
	All    []operation.Index
	At     time.Time // when they were read; zero: not read
	Reason string    // code when they could not be read: "notPermitted", "unreachable"
}
