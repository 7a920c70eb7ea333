package store

import (
	"context"
	"time"
)

// RunOutcome has measurements from before and after a run. Only its writer interprets Body.
type RunOutcome struct {
	Run  string    // the run's id
	At   time.Time // when it was saved
	Open bool      // the time after the run is still measured
	Body []byte
}

// RunOutcomes stores the measurements before and after runs.
type RunOutcomes interface {
	// SaveRunOutcome adds an outcome or replaces that of the same run.
	SaveRunOutcome(ctx context.Context, cluster string, o RunOutcome) error
	// RunOutcome returns that of a run; fault.NotFound.
	RunOutcome(ctx context.Context, cluster, run string) (RunOutcome, error)
	// OpenRunOutcomes returns those that are still being measured, by run.
	OpenRunOutcomes(ctx context.Context, cluster string) ([]RunOutcome, error)
}
