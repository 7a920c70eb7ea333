package simcluster

import (
	"context"
	"sync"
)

// lifetime owns the goroutines, connections and listeners of a cluster, and ends them.
type lifetime struct {
	ctx context.Context // ends with close
	end context.CancelFunc

	mu          sync.Mutex // guards the fields below
	closed      bool
	open        map[closer]struct{} // connections and listeners to close
	connections sync.WaitGroup      // their goroutines
	background  sync.WaitGroup      // balancer, writers and the like
}

// closer is a connection or a listener that close closes to end its goroutine.
type closer interface{ Close() error }

func newLifetime() *lifetime {
	l := &lifetime{open: make(map[closer]struct{})}
	l.ctx, l.end = context.WithCancel(context.Background())
	return l
}

// run starts a goroutine that ends with ctx or the lifetime; wait waits for it. It reports
// false after the end, when nothing is started.
func (l *lifetime) run(ctx context.Context, run func(context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.background.Go(func() {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		defer context.AfterFunc(l.ctx, cancel)()
		run(ctx)
	})
	return true
}

func (l *lifetime) track(x closer) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.open[x] = struct{}{}
	l.connections.Add(1)
	return true
}

func (l *lifetime) untrack(x closer) {
	l.mu.Lock()
	delete(l.open, x)
	l.mu.Unlock()
	l.connections.Done()
}

// close ends everything, runs last before connections are closed, and reports whether it was the first call.
func (l *lifetime) close(last func()) (first bool) {
	l.mu.Lock()
	first = !l.closed
	l.closed = true
	open := make([]closer, 0, len(l.open))
	for x := range l.open {
		open = append(open, x)
	}
	l.mu.Unlock()
	if first {
		l.end()
		last()
		for _, x := range open {
			_ = x.Close()
		}
	}
	return first
}

func (l *lifetime) wait() {
	l.background.Wait()
	l.connections.Wait()
}
