package engine

import (
	"context"
	"sync"

	"shardboard/internal/fault"
)

// keyedMutex is a mutex for each key. It ensures that only one request at a time
// starts a plan.
type keyedMutex struct {
	mu   sync.Mutex
	held map[string]chan struct{} // closed when the key is unlocked
}

// lock waits for the key and returns the function that unlocks it.
func (k *keyedMutex) lock(ctx context.Context, key string) (unlock func(), err error) {
	for {
		k.mu.Lock()
		if k.held == nil {
			k.held = map[string]chan struct{}{}
		}
		other, taken := k.held[key]
		if !taken {
			mine := make(chan struct{})
			k.held[key] = mine
			k.mu.Unlock()
			return func() {
				k.mu.Lock()
				defer k.mu.Unlock()
				delete(k.held, key)
				close(mine)
			}, nil
		}
		k.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, fault.Wrap(fault.Unavailable, ctx.Err(), "The same plan is being started by another request.")
		}
	}
}
