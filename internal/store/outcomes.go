package store

import (
	"context"
	"time"
)

// RunOutcome is what was measured before and after a run. What Body holds is the
// business of who wrote it.
type RunOutcome struct {
	Run  string    // the run's id
	At   time.Time // when it was saved
	Open bool      // the time after the run is still being measured
	Body []byte
}

// RunOutcomes keeps what was measured before and after runs.
type RunOutcomes interface {
	// SaveRunOutcome writes one or replaces that of the same run.
	SaveRunOutcome(ctx context.Context, cluster string, o RunOutcome) error
	// RunOutcome gives that of a run; fault.NotFound.
	RunOutcome(ctx context.Context, cluster, run string) (RunOutcome, error)
	// OpenRunOutcomes gives those that are still being measured, by run.
	OpenRunOutcomes(ctx context.Context, cluster string) ([]RunOutcome, error)
}
