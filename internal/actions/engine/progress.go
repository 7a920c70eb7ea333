package engine

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/clock"
)

// The pause between two reads of a migration's progress: a sixtieth of the time that
// it has run, within these bounds.
const (
	followEvery  = 2 * time.Second
	followRarely = time.Minute
)

// follow shows how far a migration is until end is called. Errors of reading the
// progress are ignored: the answer or the proof decides in the end.
func (x *execution) follow(i int, s actions.Step) (end func()) {
	ctx, cancel := context.WithCancel(x.e.life)
	ended := make(chan struct{})
	sent := x.now().Steps[i].Sent
	go func() {
		defer close(ended)
		begun := time.Now()
		for clock.Sleep(ctx, min(max(time.Since(begun)/60, followEvery), followRarely)) == nil {
			look, cancel := context.WithTimeout(ctx, readTime)
			t, err := x.e.o.Reader.Trace(look, x.id, s, sent)
			cancel()
			if err != nil || ctx.Err() != nil {
				continue
			}
			x.show(func(r *Run) {
				r.Steps[i].Progress = Progress{Done: int64(t.Step), Total: int64(t.Steps)}
				r.Steps[i].Events = t.Events[max(0, len(t.Events)-eventLimit):]
			})
		}
	}()
	return func() { cancel(); <-ended }
}
