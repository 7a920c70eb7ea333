package auth

import "sync"

// endSignals closes the WebSockets of a session or token as soon as it ends. It knows only what
// ends in this process; Check finds what another process ended.
type endSignals struct {
	mu    sync.Mutex
	chans map[string]chan struct{}
}

func newEndSignals() *endSignals { return &endSignals{chans: map[string]chan struct{}{}} }

// channel returns the channel that is closed when the session or token ends.
func (e *endSignals) channel(key string) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.chans[key]
	if c == nil {
		c = make(chan struct{})
		e.chans[key] = c
	}
	return c
}

// end closes the channels of the keys and removes them.
func (e *endSignals) end(keys ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, key := range keys {
		if c := e.chans[key]; c != nil {
			close(c)
			delete(e.chans, key)
		}
	}
}

// endKey is the key of p's channel; "" when p has neither a session nor a token that could end.
func endKey(p Principal) string {
	switch {
	case p.Session != "":
		return "session:" + p.Session
	case p.Method == ByToken:
		return p.ID
	}
	return ""
}

// Ended is closed when p's session or token ends in this process.
func (s *Service) Ended(p Principal) <-chan struct{} {
	key := endKey(p)
	if key == "" {
		return nil
	}
	return s.endSignals.channel(key)
}

// endSessions closes the WebSockets of the sessions.
func (s *Service) endSessions(ids ...string) {
	for _, id := range ids {
		s.endSignals.end("session:" + id)
	}
}
