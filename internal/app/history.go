package app

import (
	"context"
	"log/slog"
	"time"

	"shardboard/internal/history"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// placementHistory records placement and answers questions about the past.
type placementHistory struct {
	past     *history.Past
	recorder *history.Recorder // nil: another process owns the data and records
	store    store.Leadership
	clock    *movableClock // of the recorder
}

// movableClock is the machine's clock, or that of a simulated cluster while its past is made. It is
// set before anything runs.
type movableClock struct{ now func() time.Time }

func (c *movableClock) Now() time.Time { return c.now() }

func newHistory(kept store.Store, tables *topology.Watcher, log *slog.Logger) placementHistory {
	h := placementHistory{past: history.NewPast(kept, nil), clock: &movableClock{time.Now}, store: kept}
	if kept.Leads() || kept.Leader().Shared {
		h.recorder = history.NewRecorder(kept, tables, log, h.clock.Now)
		h.past.Follow(h.recorder)
	}
	return h
}

// run records while this process leads, until the context ends.
func (h placementHistory) run(ctx context.Context) error {
	if h.recorder == nil {
		return nil
	}
	again := false
	return h.store.Lead(ctx, func(ctx context.Context) error {
		if again { // another process may have recorded since
			h.recorder.Forget()
		}
		again = true
		return h.recorder.Run(ctx)
	})
}
