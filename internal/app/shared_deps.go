package app

import (
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"shardboard/internal/metrics"
	"shardboard/web/site"
)

// addShared adds to what a cluster's pages are made of what they share with those of all clusters:
// sign-in, the audit trail, the data directory and the listener.
func (n *instance) addShared(d *site.Deps, a *App) {
	c := a.config
	d.Access.Auth, d.Audit.Refusals, d.Audit.Trail = n.auth, n.refusals, n.trail
	d.Store.Leads, d.Store.Leader = n.store.Leads, n.store.Leader
	d.Store.Trouble, d.Store.Unreadable, d.Store.Data = n.db.Trouble, n.db.Unreadable, dataDirectory{n.db, a}
	d.Access.Origin, d.Place.Base.Root = c.origin(), a.root
	d.Access.Hosts, d.Access.TLS, d.Access.Exposed = c.hosts(), c.overTLS(), c.exposed(a.host())
	d.Access.FrameAncestors = c.frameAncestors()
	d.Access.MaxSockets = maxSockets(a.listener.Max())
	d.Version, d.Store.Memory = c.Version, a.memory
}

// registry is a new registry with the metrics of the process.
func (a *App) registry() *prometheus.Registry {
	r := prometheus.NewRegistry()
	r.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		a.countedListeners(),
		metrics.NewBuildInfo(a.config.Version),
		a.reload,
	)
	return r
}
