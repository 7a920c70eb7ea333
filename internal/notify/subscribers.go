// Package notify wakes those who wait for news of one thing.
//
// A notification says only that there is something newer; whoever is woken reads
// the newest state where it is kept. Notifications to one that has not read the
// last are joined into it, so a slow reader misses states in between and never the
// newest, and nobody who notifies waits for a reader.
package notify

import "sync"

// Subscribers are those who wait. The zero value has none and is ready to use.
// Safe for concurrent use.
type Subscribers struct {
	mu    sync.Mutex
	chans map[chan struct{}]struct{}
}

// Subscribe gives a channel that receives one value after Notify. The function
// ends the subscription; the channel is never closed.
func (s *Subscribers) Subscribe() (<-chan struct{}, func()) {
	c := make(chan struct{}, 1)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chans == nil {
		s.chans = map[chan struct{}]struct{}{}
	}
	s.chans[c] = struct{}{}
	return c, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.chans, c)
	}
}

// Notify wakes every subscriber. It never blocks.
func (s *Subscribers) Notify() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.chans {
		select {
		case c <- struct{}{}:
		default: // a notification is waiting already; its reader finds this news too
		}
	}
}
