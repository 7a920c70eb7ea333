package app

import (
	"context"
	"net/http"
	"sync"
)

// front passes each request to the instance that serves now, so that one can take
// the place of another without a request that is refused or cut.
type front struct {
	mu      sync.RWMutex
	current *instance
}

func (f *front) get() *instance {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.current
}

// set puts an instance in the place of the one before. Requests that are at work
// there end there.
func (f *front) set(n *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = n
}

// ServeHTTP answers with the pages of the instance that serves now.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.serve(w, r, func(n *instance) http.Handler { return n.web.Handler() })
}

func (f *front) serve(w http.ResponseWriter, r *http.Request, with func(*instance) http.Handler) {
	f.mu.RLock()
	n := f.current
	n.requests.begin()
	f.mu.RUnlock()
	defer n.requests.end()
	with(n).ServeHTTP(w, r)
}

// inFlight counts the requests that are at work.
type inFlight struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n comes to 0; nil while nobody waits
}

func (c *inFlight) begin() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.n++
}

func (c *inFlight) end() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.n--; c.n == 0 && c.idle != nil {
		close(c.idle)
		c.idle = nil
	}
}

// wait waits until no request is at work, once no more begin; or until ctx ends.
func (c *inFlight) wait(ctx context.Context) {
	c.mu.Lock()
	if c.n == 0 {
		c.mu.Unlock()
		return
	}
	if c.idle == nil {
		c.idle = make(chan struct{})
	}
	idle := c.idle
	c.mu.Unlock()
	select {
	case <-idle:
	case <-ctx.Done():
	}
}
