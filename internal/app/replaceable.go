package app

import (
	"context"
	"net/http"
	"sync"
)

// replaceable has the parts of the only cluster, which are made anew when its profile changes. Requests wait meanwhile:
// two engines would settle the same runs, so the old parts end before the new ones start. Safe for concurrent use.
type replaceable struct {
	mu        sync.Mutex
	parts     *clusterParts
	requests  *inFlight
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
	r.parts, r.requests = p, &inFlight{}
	if r.replacing != nil {
		close(r.replacing)
		r.replacing = nil
	}
}

// hold makes new requests wait until set; false while they wait already.
func (r *replaceable) hold() (old *clusterParts, under *inFlight, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.replacing != nil {
		return nil, nil, false
	}
	r.replacing = make(chan struct{})
	return r.parts, r.requests, true
}

// ServeHTTP serves the pages of the parts that serve.
func (r *replaceable) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	for {
		r.mu.Lock()
		parts, under, replacing := r.parts, r.requests, r.replacing
		if replacing == nil {
			under.begin()
			r.mu.Unlock()
			defer under.end()
			parts.web.Handler().ServeHTTP(w, req)
			return
		}
		r.mu.Unlock()
		select {
		case <-replacing:
		case <-req.Context().Done():
			return
		}
	}
}

// replaceCluster makes the parts of the only cluster anew, after the requests of now have been answered. It returns at
// once; requests that come then are answered by the new parts.
func (n *instance) replaceCluster(a *App) {
	old, under, ok := n.only.hold()
	if !ok {
		return
	}
	n.group.Go(func() error {
		ending, cancel := context.WithTimeout(context.WithoutCancel(n.life), retireTimeout)
		defer cancel()
		old.end(ending, under)
		if n.life.Err() != nil {
			n.only.set(old) // the process ends, and requests need not wait
			return nil
		}
		c := a.configNow().cluster()
		c.Watcher.Known = old.watcher.Table().ServerInfo.ClusterID
		next, err := newClusterParts(n.life, n, a, c, nil)
		if err != nil {
			n.only.set(old)
			return err
		}
		next.start(n.life)
		n.group.Go(next.wait)
		next.waitLoaded(n.life)
		n.only.set(next)
		return nil
	})
}

// end ends parts: their WebSockets, then the requests that they are answering, then the rest.
func (p *clusterParts) end(ctx context.Context, under *inFlight) {
	p.web.Close()
	under.wait(ctx)
	p.stop()
	_ = p.wait()           // its error no longer matters
	_ = p.cleanup.run(ctx) // failures are logged
}
