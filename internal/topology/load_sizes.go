package topology

import (
	"context"
	"time"
)

// LoadSizes reads all sizes and the disks once and without pauses, for commands that answer one
// question and end. What cannot be read is in the table with its reason.
func (w *Watcher) LoadSizes(ctx context.Context) {
	s := newSurveyor(w)
	s.once = true
	for due := true; due && ctx.Err() == nil; _, due = s.next(w.Table(), time.Now()) {
		s.turn(ctx)
	}
	if ctx.Err() == nil {
		s.flush(time.Now())
	}
}
