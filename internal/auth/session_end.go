package auth

import "sync"

// endSignals closes the WebSockets of a session or token as soon as it ends. It knows only what
// ends in this process; Check finds what another process ended.
type endSignals struct {
	mu      sync.Mutex
	waiting map[string]map[*func()]struct{} // by session or token: what is called at its end
}

// after calls f when the session or token ends, unless stop is called before.
func (e *endSignals) after(key string, f func()) (stop func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.waiting[key] == nil {
		e.waiting[key] = map[*func()]struct{}{}
	}
	e.waiting[key][&f] = struct{}{}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.waiting[key], &f)
		if len(e.waiting[key]) == 0 {
			delete(e.waiting, key)
		}
	}
}

// end calls what waits for the end of the keys, without the lock.
func (e *endSignals) end(keys ...string) {
	var all []*func()
	e.mu.Lock()
	for _, key := range keys {
		for f := range e.waiting[key] {
			all = append(all, f)
		}
		delete(e.waiting, key)
	}
	e.mu.Unlock()
	for _, f := range all {
		(*f)()
	}
}

// endKey is the key of p's end; "" when p has neither a session nor a token that could end.
func endKey(p Principal) string {
	switch {
	case p.Session != "":
		return "session:" + p.Session
	case p.Method == ByToken:
		return p.ID
	}
	return ""
}

// AfterEnd calls f once, which must not wait, when p's session or token ends in this process.
func (s *Service) AfterEnd(p Principal, f func()) (stop func()) {
	key := endKey(p)
	if key == "" {
		return func() {}
	}
	return s.endSignals.after(key, f)
}

// endSessions closes the WebSockets of the sessions.
func (s *Service) endSessions(ids ...string) {
	for _, id := range ids {
		s.endSignals.end("session:" + id)
	}
}
