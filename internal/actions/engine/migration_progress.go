package engine

import (
	"context"
	"time"

	"shardboard/internal/actions/operation"
	"shardboard/internal/clock"
)

// The pause between two reads of the progress of a migration or a resharding is a
// sixtieth of its age, within these bounds.
const (
	progressPollMin = 2 * time.Second
	progressPollMax = time.Minute
)

// progressPause is the pause after a read at that age.
func progressPause(age time.Duration) time.Duration {
	return min(max(age/60, progressPollMin), progressPollMax)
}

// followProgress shows the progress of a migration or a resharding until end is called.
// Errors of reading it are ignored, because the answer or the proof decides the outcome.
func (x *execution) followProgress(i int, s operation.Step) (end func()) {
	ctx, cancel := context.WithCancel(x.ctx)
	ended := make(chan struct{})
	sent := x.current().Steps[i].Sent
	go func() {
		defer close(ended)
		begun := time.Now()
		for clock.Sleep(ctx, progressPause(time.Since(begun))) == nil {
			look, cancel := context.WithTimeout(ctx, readTimeout)
			t, err := x.e.opts.Reader.Trace(look, x.id, s, sent)
			cancel()
			if err != nil || ctx.Err() != nil {
				continue
			}
			x.showProgress(i, t)
		}
	}()
	return func() { cancel(); <-ended }
}

// showProgress shows what was read of a running command. The last known progress of a
// resharding stays, with its time, when it is no longer seen.
func (x *execution) showProgress(i int, t operation.Trace) {
	x.updateMemory(func(r *Run) {
		s := &r.Steps[i]
		s.Progress = Progress{Done: int64(t.Step), Total: int64(t.Steps)}
		s.Events = t.Events[max(0, len(t.Events)-eventLimit):]
		if t.Resharding != nil {
			s.Resharding = t.Resharding
		}
	})
}
