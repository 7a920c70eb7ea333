package app

import (
	"context"
	"net/http"
	"sync"
)

// replaceable has the parts of a cluster, which are made anew when its profile changes. Requests wait meanwhile: two
// engines would settle the same runs, so the old parts end before the new ones start. Safe for concurrent use.
type replaceable struct {
	requests inFlight // that the parts answer

	mu        sync.Mutex
	parts     *clusterParts // that serve, or served last; nil while there are none
	replacing chan struct{} // closed when the new parts serve; nil while none are made
}

// now is the parts that serve, or served last.
func (r *replaceable) now() *clusterParts {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.parts
}

func (r *replaceable) set(p *clusterParts) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.parts = p
}

// enter counts a request in; nil while there are no parts that may answer it.
func (r *replaceable) enter() *clusterParts {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts == nil || r.replacing != nil {
		return nil
	}
	r.requests.begin()
	return r.parts
}

// hold makes new requests wait until resume. It returns the parts to end; nil while others are being made.
func (r *replaceable) hold() *clusterParts {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.parts == nil || r.replacing != nil {
		return nil
	}
	r.replacing = make(chan struct{})
	return r.parts
}

func (r *replaceable) resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replacing != nil {
		close(r.replacing)
		r.replacing = nil
	}
}

// held is closed at resume; nil while requests need not wait.
func (r *replaceable) held() <-chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.replacing
}

// await waits while requests have to; false if they need not.
func (r *replaceable) await(ctx context.Context) bool {
	held := r.held()
	if held == nil {
		return false
	}
	select {
	case <-held:
	case <-ctx.Done():
	}
	return true
}

// drain ends the WebSockets of parts, if there are any, and waits for the requests that they are answering.
func (r *replaceable) drain(ctx context.Context, parts *clusterParts) {
	if parts != nil {
		parts.web.Close()
	}
	r.requests.wait(ctx)
}

// ServeHTTP serves the pages of the parts that serve.
func (r *replaceable) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	for req.Context().Err() == nil {
		if parts := r.enter(); parts != nil {
			defer r.requests.end()
			parts.web.Handler().ServeHTTP(w, req)
			return
		}
		r.await(req.Context())
	}
}

// replaceCluster makes the parts of the only cluster anew, after the requests of now have been answered. It returns at
// once; requests that come then are answered by the new parts.
func (n *instance) replaceCluster(a *App) {
	old := n.only.hold()
	if old == nil {
		return
	}
	n.group.Go(func() error {
		defer n.only.resume()
		ending, cancel := context.WithTimeout(context.WithoutCancel(n.life), retireTimeout)
		defer cancel()
		n.only.drain(ending, old)
		old.stop()
		_ = old.wait()              // its error no longer matters
		_ = old.cleanup.run(ending) // failures are logged
		if n.life.Err() != nil {
			return nil // the process ends, and requests need not wait
		}
		c := a.configNow().cluster()
		c.Watcher.Known = old.watcher.Table().ServerInfo.ClusterID
		next, err := newClusterParts(n.life, n, a, c, nil)
		if err != nil {
			return err
		}
		next.start(n.life)
		n.group.Go(next.wait)
		next.waitLoaded(n.life)
		n.only.set(next)
		return nil
	})
}
