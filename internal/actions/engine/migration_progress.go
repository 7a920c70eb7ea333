package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/clock"
)

// The pause between two reads of a migration's progress is a sixtieth of its age,
// within these bounds.
const (
	progressPollMin = 2 * time.Second
	progressPollMax = time.Minute
)

// followMigration shows the progress of a migration until end is called. Errors of
// reading it are ignored, because the answer or the proof decides the outcome.
func (x *execution) followMigration(i int, s actions.Step) (end func()) {
	ctx, cancel := context.WithCancel(x.ctx)
	ended := make(chan struct{})
	sent := x.current().Steps[i].Sent
	go func() {
		defer close(ended)
		begun := time.Now()
		for clock.Sleep(ctx, min(max(time.Since(begun)/60, progressPollMin), progressPollMax)) == nil {
			look, cancel := context.WithTimeout(ctx, readTimeout)
			t, err := x.e.opts.Reader.Trace(look, x.id, s, sent)
			cancel()
			if err != nil || ctx.Err() != nil {
				continue
			}
			x.updateMemory(func(r *Run) {
				r.Steps[i].Progress = Progress{Done: int64(t.Step), Total: int64(t.Steps)}
				r.Steps[i].Events = t.Events[max(0, len(t.Events)-eventLimit):]
			})
		}
	}()
	return func() { cancel(); <-ended }
}
