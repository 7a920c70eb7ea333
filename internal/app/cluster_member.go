package app

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// A cluster whose parts ended or could not be made is tried again after a while that doubles.
const (
	retryFirst = time.Second
	retryMost  = 30 * time.Second
)

// member is one cluster of several: its configuration, and its parts while it has them.
type member struct {
	of     *clusters
	config ClusterConfig
	cancel context.CancelFunc // of run; nil before it
	ended  chan struct{}      // closed when run has ended
	roles  atomic.Pointer[auth.ClusterRoles]

	replaceable           // its mutex guards what follows too
	failure     error     // why there are no parts; nil while they are being made
	since       time.Time // of failure, or of the first try
	reached     site.Reach
	known       string // the cluster's id, by the parts before
}

func newMember(of *clusters, c ClusterConfig) *member {
	c.Log = c.Log.With("cluster", c.Name)
	if c.Alerts != nil {
		c.Alerts = c.Alerts.At(site.ClusterBase(c.Name))
	}
	m := &member{of: of, config: c, since: time.Now(), ended: make(chan struct{})}
	m.roles.Store(&c.Roles)
	return m
}

// run makes the parts of the cluster and keeps them running until the context ends.
func (m *member) run(ctx context.Context) {
	defer close(m.ended)
	for wait := retryFirst; ctx.Err() == nil; {
		began := time.Now()
		err := m.live(ctx)
		if ctx.Err() != nil {
			m.resume()
			return
		}
		if m.held() != nil && !errors.Is(err, errNotMade) {
			continue
		}
		m.resume()
		m.fail(err)
		m.config.Log.Warn("this cluster has no pages; trying again", "after", wait, "err", err)
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
		if wait = min(2*wait, retryMost); time.Since(began) > time.Minute+wait {
			wait = retryFirst
		}
	}
}

// live makes the parts and waits for their end.
func (m *member) live(ctx context.Context) error {
	c := m.config
	m.mu.Lock()
	c.Watcher.Known = m.known
	m.mu.Unlock()
	parts, err := newClusterParts(ctx, m.of.n, m.of.a, c, m)
	if err != nil {
		return errors.Join(errNotMade, err)
	}
	defer m.of.release(m.config.Name)
	parts.start(ctx)
	defer parts.stop()
	if m.held() != nil {
		parts.waitLoaded(ctx)
	}
	m.serve(parts)
	m.resume()
	followed, stop := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() { m.follow(followed, parts) })
	err = parts.wait()
	stop()
	following.Wait()
	m.serve(nil)
	parts.web.Close()
	closing, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
	defer cancel()
	if err == nil {
		err = errors.New("its parts have ended")
	}
	return errors.Join(err, parts.cleanup.run(closing))
}

// retire ends the cluster after it was taken out of the list: first its WebSockets, whose browsers come
// back, then its requests, then the rest.
func (m *member) retire() {
	ctx, cancel := context.WithTimeout(context.Background(), retireTimeout)
	defer cancel()
	m.drain(ctx, m.now())
	if m.cancel != nil {
		m.cancel()
		<-m.ended
	}
}

// errNotMade is the error of parts that could not be made.
var errNotMade = errors.New("the cluster's parts could not be made")

// renew makes the parts of the cluster anew, after the requests of now have been answered. It returns at once; requests
// that come then wait for the new parts.
func (m *member) renew() {
	parts := m.hold()
	if parts == nil {
		return
	}
	m.of.running.Go(func() {
		ctx, cancel := context.WithTimeout(context.Background(), retireTimeout)
		defer cancel()
		m.drain(ctx, parts)
		m.mu.Lock()
		m.known = parts.watcher.Table().ServerInfo.ClusterID
		m.mu.Unlock()
		parts.stop() // run makes others
	})
}

func (m *member) serve(parts *clusterParts) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.parts, m.failure, m.reached = parts, nil, site.Reach{}
	m.of.subscribers.Notify()
}

func (m *member) fail(err error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.failure == nil {
		m.since = time.Now()
	}
	m.failure = err
	m.of.subscribers.Notify()
}

// follow notes since when the cluster answers, or does not.
func (m *member) follow(ctx context.Context, parts *clusterParts) {
	table, changed, end := parts.watcher.Subscribe()
	defer end()
	for {
		m.note(table, parts)
		select {
		case <-ctx.Done():
			return
		case <-changed:
			table = parts.watcher.Table()
		}
	}
}

func (m *member) note(t *topology.Table, parts *clusterParts) {
	h := t.Health[topology.PartRouting]
	if !t.Loaded && h.Err == nil {
		return // nothing is known yet
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if yes := h.Err == nil; m.parts == parts && (!m.reached.Known || m.reached.Yes != yes) {
		m.reached = site.Reach{Known: true, Yes: yes, Since: time.Now()}
		if !yes && !h.At.IsZero() {
			m.reached.Since = h.At // it answered until then
		}
		m.of.subscribers.Notify()
	}
}

// role is what somebody may do on the cluster; false if they may not see it.
func (m *member) role(p auth.Principal) (auth.Role, bool) { return m.roles.Load().Of(m.config.Name, p) }

// describe is the cluster for pages.
func (m *member) describe() *site.Cluster {
	m.mu.Lock()
	defer m.mu.Unlock()
	out := &site.Cluster{Name: m.config.Name, Title: m.config.Title, Target: m.config.URI.String(), Failure: m.failure, Since: m.since,
		Role: m.role, Reach: m.reached}
	if m.parts != nil {
		out.Site = m.parts.web.Site
	}
	return out
}

// claim waits until the cluster's id is known and makes it the only one with it.
func (m *member) claim(ctx context.Context, tables tables) error {
	table, changed, end := tables.Subscribe()
	defer end()
	// What was last seen at the address is not the cluster's own answer; an id that may not be read stays unknown.
	for table.ServerInfo.ClusterID == "" && !table.Loaded {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-changed:
			table = tables.Table()
		}
	}
	if table.ClusterID == "" {
		return nil
	}
	return m.of.claim(m.config.Name, table.ClusterID)
}
