package engine

import (
	"context"
	"sync"

	"shardboard/internal/fault"
)

// turns lets one request at a time at the same plan.
type turns struct {
	mu   sync.Mutex
	busy map[string]chan struct{}
}

// enter waits for the turn; what it gives ends it.
func (t *turns) enter(ctx context.Context, key string) (func(), error) {
	for {
		t.mu.Lock()
		if t.busy == nil {
			t.busy = map[string]chan struct{}{}
		}
		other, taken := t.busy[key]
		if !taken {
			mine := make(chan struct{})
			t.busy[key] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				defer t.mu.Unlock()
				delete(t.busy, key)
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "The same plan is being started by another request.")
		}
	}
}
