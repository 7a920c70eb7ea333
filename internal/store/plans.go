package store

import (
	"time"

	"shardboard/internal/fault"
)

const (
	// PlanKept is how long a plan that was never run is kept. It can be run for minutes
	// only; after that it is there to be looked at.
	PlanKept = 30 * 24 * time.Hour
	// PlanRemembered is how long the id of a removed plan is kept, by the time at which
	// it was made, so that a link to it says what became of it.
	PlanRemembered = 365 * 24 * time.Hour
)

// ErrPlanRemoved is what became of a plan that was never run.
var ErrPlanRemoved = fault.New(fault.NotFound, "This plan was never run and was removed after %d days. Make a new one.", int(PlanKept.Hours()/24))
