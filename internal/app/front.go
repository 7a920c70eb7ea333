package app

import (
	"context"
	"net/http"
	"sync"
)

// front passes each request to the current instance, so that an instance can be replaced without
// refusing or cutting a request.
type front struct {
	mu      sync.RWMutex
	current *instance
}

func (f *front) instance() *instance {
	f.mu.RLock()
	defer f.mu.RUnlock()
	return f.current
}

// set replaces the instance. Requests that the old one is answering finish there.
func (f *front) set(n *instance) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.current = n
}

// ServeHTTP serves the pages of the current instance.
func (f *front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.serve(w, r, func(n *instance) http.Handler { return n.handler() })
}

func (f *front) serve(w http.ResponseWriter, r *http.Request, with func(*instance) http.Handler) {
	f.mu.RLock()
	n := f.current
	n.requests.begin()
	f.mu.RUnlock()
	defer n.requests.end()
	with(n).ServeHTTP(w, r)
}

// inFlight counts requests in progress.
type inFlight struct {
	mu   sync.Mutex
	n    int
	idle chan struct{} // closed when n becomes 0; nil while nobody waits
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

// wait blocks until no request is in progress or ctx ends. No request may begin meanwhile.
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
