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
	d.Auth, d.Refusals, d.Audit = n.auth, n.refusals, n.trail
	d.Leads, d.Leader = n.store.Leads, n.store.Leader
	d.Trouble, d.Unreadable, d.Data = n.db.Trouble, n.db.Unreadable, dataDirectory{n.db, a}
	d.Origin, d.Base.Root = c.origin(), a.root
	d.Hosts, d.TLS, d.Exposed = c.hosts(), c.overTLS(), c.exposed(a.host())
	d.FrameAncestors = c.frameAncestors()
	d.MaxSockets = maxSockets(a.listener.Max())
	d.Version, d.Memory = c.Version, a.memory
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
