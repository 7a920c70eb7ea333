package auth

import "sync"

// ended tells sockets at once when what let them in is no more. It knows of
// this process only; Check covers the rest.
type ended struct {
	mu    sync.Mutex
	chans map[string]chan struct{}
}

func newEnded() *ended { return &ended{chans: map[string]chan struct{}{}} }

// of is the channel of a session or token.
func (e *ended) of(key string) <-chan struct{} {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := e.chans[key]
	if c == nil {
		c = make(chan struct{})
		e.chans[key] = c
	}
	return c
}

// end closes the channels of keys and forgets them.
func (e *ended) end(keys ...string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, key := range keys {
		if c := e.chans[key]; c != nil {
			close(c)
			delete(e.chans, key)
		}
	}
}

// endKey is what p's channel is kept under; "" when nothing can end it.
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
	return s.ended.of(key)
}

// endSessions closes the sockets of sessions.
func (s *Service) endSessions(ids ...string) {
	for _, id := range ids {
		s.ended.end("session:" + id)
	}
}
