package app

import (
	"context"
	"log/slog"

	"shardboard/internal/history"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// placementHistory records placement and answers questions about the past.
type placementHistory struct {
	past     *history.Past
	recorder *history.Recorder // nil: another process owns the data and records
}

func newHistory(kept store.Store, tables *topology.Watcher, log *slog.Logger) placementHistory {
	h := placementHistory{past: history.NewPast(kept, nil)}
	if kept.Owner() {
		h.recorder = history.NewRecorder(kept, tables, log, nil)
	}
	return h
}

// run records until the context ends.
func (h placementHistory) run(ctx context.Context) error {
	if h.recorder == nil {
		return nil
	}
	return h.recorder.Run(ctx)
}
