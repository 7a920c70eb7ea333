package store

import (
	"strings"
	"time"

	"shardboard/internal/fault"
)

const (
	// PlanKept is how long a plan that was never run is kept. It can be run only for minutes; after
	// that it can still be viewed.
	PlanKept = 30 * 24 * time.Hour
	// PlanRemembered is how long after its making the id of a removed plan is kept, so that an old
	// link can say what happened to the plan.
	PlanRemembered = 365 * 24 * time.Hour
)

// ErrPlanRemoved is returned for a plan that was never run and has been removed.
var ErrPlanRemoved = fault.New(fault.NotFound, "This plan was never run and was removed after %d days. Make a new one.",
	int(PlanKept.Hours()/24))

// IsPlanOrRunID tells whether a text can be the id of a plan or a run: 128 bits in base32.
func IsPlanOrRunID(id string) bool {
	return len(id) == 26 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
