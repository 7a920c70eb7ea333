package app

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/metrics"
	"shardboard/internal/natural"
	"shardboard/internal/notify"
	"shardboard/internal/profile"
	"shardboard/web"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// clustersEvery is how often pages of all clusters look for news of them.
const clustersEvery = 2 * time.Second

// clusters are the clusters of a configuration file. Each has a life of its own: one that cannot be
// reached, fails or is replaced does not touch the others. Safe for concurrent use.
type clusters struct {
	n      *instance
	a      *App
	limits *guard.Limits // of one person over all clusters
	web    *web.Server   // the server's own pages

	subscribers notify.Subscribers

	mu      sync.RWMutex
	list    []*member // in the order of the file
	config  site.Configuration
	ids     map[string]string // name of the cluster that has an id
	left    map[string]string // likewise, of those that were removed while a run was under way
	life    context.Context   // nil before start
	running sync.WaitGroup
}

func newClusters(n *instance, a *App, c Config) *clusters {
	s := &clusters{n: n, a: a, limits: guard.NewLimits(time.Now), ids: map[string]string{}, left: map[string]string{}}
	s.config = site.Configuration{File: c.File, Loaded: time.Now()}
	d := site.Deps{
		Log:     c.Log,
		Cluster: site.ClusterDeps{Watcher: noTable{}, Keeper: noProjects{}, Profile: profile.Yorkie()},
		Access:  site.AccessDeps{Limits: s.limits},
		Place:   site.PlaceDeps{Clusters: s},
		Metrics: site.MetricDeps{Registry: a.registry()},
	}
	n.addShared(&d, a)
	d.Metrics.Gatherer = s.gatherer(d.Metrics.Registry)
	s.web = web.New(d)
	for _, one := range c.Clusters {
		s.list = append(s.list, newMember(s, one))
	}
	return s
}

// start begins the lives of all clusters, which end with ctx.
func (s *clusters) start(ctx context.Context) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.life = ctx
	for _, m := range s.list {
		s.begin(m)
	}
}

// begin runs under mu.
func (s *clusters) begin(m *member) {
	ctx, cancel := context.WithCancel(s.life)
	m.cancel = cancel
	s.running.Go(func() { m.run(ctx) })
}

// run serves the server's own pages until the context ends, and then waits for all clusters.
func (s *clusters) run(ctx context.Context) error {
	news := time.NewTicker(clustersEvery)
	defer news.Stop()
	ended := make(chan error, 1)
	go func() { ended <- s.web.Run(ctx) }()
	for {
		select {
		case <-news.C:
			s.subscribers.Notify()
		case err := <-ended:
			s.running.Wait()
			return err
		}
	}
}

// All implements site.Clusters.
func (s *clusters) All() []*site.Cluster {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]*site.Cluster, len(s.list))
	for i, m := range s.list {
		out[i] = m.describe()
	}
	return out
}

// namedRoles are the roles on all clusters.
func (s *clusters) namedRoles() []auth.NamedRoles {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := make([]auth.NamedRoles, len(s.list))
	for i, m := range s.list {
		out[i] = auth.NamedRoles{Name: m.config.Name, Title: m.config.Title, Roles: *m.roles.Load()}
	}
	return out
}

// Subscribe implements site.Clusters.
func (s *clusters) Subscribe() (<-chan struct{}, func()) { return s.subscribers.Subscribe() }

// Configuration implements site.Clusters.
func (s *clusters) Configuration() site.Configuration {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := s.config
	out.Left = natural.Sorted(maps.Values(s.left))
	return out
}

// ServeHTTP passes requests below /c/{name}/ to the pages of that cluster and all others to the server's own.
func (s *clusters) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	name, within, ok := site.SplitCluster(r)
	if !ok {
		s.web.Handler().ServeHTTP(w, r)
		return
	}
	m, pages := s.enter(name)
	if m != nil && pages == nil && m.await(r.Context()) {
		m, pages = s.enter(name)
	}
	if m == nil || pages == nil {
		s.web.Handler().ServeHTTP(w, r) // says that there is none, or why it does not answer
		return
	}
	defer m.requests.end()
	pages.ServeHTTP(w, within)
}

// enter finds the pages of a cluster and counts a request in, so that they are not taken away under it.
func (s *clusters) enter(name string) (*member, http.Handler) {
	s.mu.RLock()
	defer s.mu.RUnlock()
	m := s.named(name)
	if m == nil {
		return nil, nil
	}
	parts := m.enter()
	if parts == nil {
		return m, nil
	}
	return m, parts.web.Handler()
}

// named runs under mu.
func (s *clusters) named(name string) *member {
	i := slices.IndexFunc(s.list, func(m *member) bool { return m.config.Name == name })
	if i < 0 {
		return nil
	}
	return s.list[i]
}

// claim makes a cluster the only one with an id. Two addresses of one cluster would record everything
// twice, and two engines would settle the same runs.
func (s *clusters) claim(name, id string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if other, taken := s.ids[id]; taken && other != name {
		return fault.New(fault.Conflict, "This is the same cluster as %s: remove one of the two from the configuration.", other)
	}
	s.ids[id] = name
	delete(s.left, id)
	return nil
}

// release gives up the ids of a cluster.
func (s *clusters) release(name string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, of := range s.ids {
		if of == name {
			delete(s.ids, id)
		}
	}
}

// addTo adds to what a cluster's pages are made of their place among those of the others.
func (s *clusters) addTo(d *site.Deps, m *member) {
	who := s.n.auth.OnCluster(m.config.Name, func() auth.ClusterRoles { return *m.roles.Load() })
	d.Place.Name, d.Place.Title, d.Place.Base.Prefix = m.config.Name, m.config.Title, site.ClusterBase(m.config.Name)
	d.Access.Auth, d.Access.Sees, d.Access.Limits, d.Place.Clusters = who, who.Sees, s.limits, s
	d.Access.Nowhere = http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.web.Handler().ServeHTTP(w, site.AtRoot(r, d.Place.Base.Prefix))
	})
}

// close ends the WebSockets of all pages and refuses new ones.
func (s *clusters) close() {
	s.web.Close()
	s.mu.RLock()
	list := slices.Clone(s.list)
	s.mu.RUnlock()
	var all sync.WaitGroup
	for _, m := range list {
		if parts := m.now(); parts != nil {
			all.Go(parts.web.Close)
		}
	}
	all.Wait()
}

// gatherers are the metrics of all clusters, each with the cluster's name.
func (s *clusters) gatherers() prometheus.Gatherers {
	s.mu.RLock()
	defer s.mu.RUnlock()
	out := prometheus.Gatherers{}
	for _, m := range s.list {
		parts, failure := m.now(), m.describe().Failure
		switch {
		case parts != nil:
			out = append(out, ofCluster{m.config.Name, parts.registry})
		case failure != nil:
			unusable := prometheus.NewRegistry()
			unusable.MustRegister(metrics.NewUnusable(m.config.Name))
			out = append(out, unusable)
		}
	}
	return out
}

// waitLoaded waits until each cluster is loaded or known to fail, but no longer than loadTimeout.
func (s *clusters) waitLoaded(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, loadTimeout)
	defer cancel()
	news, end := s.subscribers.Subscribe()
	defer end()
	for s.settling() {
		select {
		case <-news:
		case <-ctx.Done():
			return
		}
	}
}

// settling tells whether a cluster is still being read for the first time.
func (s *clusters) settling() bool {
	for _, c := range s.All() {
		if c.Failure == nil && !c.Reach.Known {
			return true
		}
	}
	return false
}
