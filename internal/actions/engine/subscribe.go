package engine

import "sync"

// topics tells who wants to know that a run changed.
type topics struct {
	mu   sync.Mutex
	subs map[string]map[chan struct{}]struct{} // by run id; "" is any
}

// Subscribe gives a channel that receives one value after a run changed (""
// any run), several joined into one. The last result ends it.
func (e *Engine) Subscribe(run string) (<-chan struct{}, func()) {
	t := &e.told
	ch := make(chan struct{}, 1)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.subs == nil {
		t.subs = map[string]map[chan struct{}]struct{}{}
	}
	if t.subs[run] == nil {
		t.subs[run] = map[chan struct{}]struct{}{}
	}
	t.subs[run][ch] = struct{}{}
	return ch, func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		delete(t.subs[run], ch)
		if len(t.subs[run]) == 0 {
			delete(t.subs, run)
		}
	}
}

func (t *topics) tell(run string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, topic := range []string{run, ""} {
		for ch := range t.subs[topic] {
			select {
			case ch <- struct{}{}:
			default: // already told
			}
		}
	}
}
