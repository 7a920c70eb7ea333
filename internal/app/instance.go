package app

import (
	"context"
	"errors"
	"log/slog"
	"net/http"

	"golang.org/x/sync/errgroup"

	"shardboard/internal/auth"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/seal"
)

// instance is one opening of the data directory: what all clusters share, and the parts of each
// cluster. What each part does depends on whether this process owns the directory.
type instance struct {
	log      *slog.Logger
	cleanup  cleanup
	requests inFlight

	db       store.Database
	store    store.Store // db as the parts use it: what it holds counts only with a seal
	seals    *seal.Store
	auth     *auth.Service
	trail    auditTrail
	refusals *audit.Refusals
	upkeep   upkeep

	only     *replaceable // the cluster of --uri; nil on a server of several
	clusters *clusters    // those of a configuration file; nil on a server of one

	life  context.Context    // of the goroutines of start
	stop  context.CancelFunc // ends them
	group *errgroup.Group
}

// newInstance wires all parts over an open data directory and starts nothing. It closes the
// directory when it fails.
func (a *App) newInstance(ctx context.Context, db store.Database) (*instance, error) {
	n := &instance{log: a.log, cleanup: cleanup{log: a.log}, db: db, upkeep: upkeep{db: db, log: a.log}}
	n.cleanup.push("store", func(context.Context) error { return db.Close() })
	if err := n.wire(ctx, a); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, n.cleanup.run(ctx))
	}
	return n, nil
}

func (n *instance) wire(ctx context.Context, a *App) (err error) {
	c := a.configNow()
	key, err := c.sessionKey()
	if err != nil {
		return err
	}
	if n.seals, n.store, err = seal.Open(ctx, n.db, key, c.Log); err != nil {
		return err
	}
	if n.trail, err = keepAudit(n.db, c); err != nil {
		return err
	}
	o, err := c.authOptions(n.store, a.public)
	if err != nil {
		return err
	}
	o.Leaked, o.FlowKey = a.leaked, key.Derive("sign-in at the issuer")
	n.refusals = auth.NewRefusals(n.store, c.Log, nil)
	o.Refusals = n.refusals
	if c.Clusters != nil {
		o.Clusters = func() []auth.NamedRoles { return n.clusterRoles(c) }
	}
	if n.auth, err = auth.New(o); err != nil {
		return err
	}
	if c.Clusters != nil {
		n.clusters = newClusters(n, a, c)
		return nil
	}
	first, err := newClusterParts(ctx, n, a, c.cluster(), nil)
	if err != nil {
		return err
	}
	n.only = &replaceable{}
	n.only.set(first)
	n.cleanup.push("cluster", func(ctx context.Context) error { return n.only.now().cleanup.run(ctx) })
	return nil
}

// clusterRoles are the clusters of a server of several, with their roles as they are now.
func (n *instance) clusterRoles(c Config) (out []auth.NamedRoles) {
	if n.clusters != nil {
		return n.clusters.namedRoles()
	}
	for _, one := range c.Clusters { // sign-in is made before them
		out = append(out, auth.NamedRoles{Name: one.Name, Title: one.Title, Roles: one.Roles})
	}
	return out
}

// start starts all parts.
func (n *instance) start(ctx context.Context) {
	ctx, n.stop = context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	n.group, n.life = group, ctx
	group.Go(func() error { return n.db.Watch(ctx, n.log) })
	group.Go(func() error { return n.seals.Watch(ctx) })
	group.Go(func() error { return n.trail.Run(ctx) })
	group.Go(func() error { return n.refusals.Run(ctx) })
	group.Go(func() error { return n.upkeep.run(ctx) })
	if n.clusters != nil {
		n.clusters.start(ctx)
		group.Go(func() error { return n.clusters.run(ctx) })
		return
	}
	n.only.now().start(ctx)
	group.Go(n.only.now().wait)
}

// wait blocks until every part has ended and returns the first failure.
func (n *instance) wait() error { return waitFor(n.group) }

// handler serves pages and API.
func (n *instance) handler() http.Handler {
	if n.clusters != nil {
		return n.clusters
	}
	return n.only
}

// metrics serves Prometheus.
func (n *instance) metrics() http.Handler {
	if n.clusters != nil {
		return n.clusters.web.MetricsHandler()
	}
	return n.only.now().web.MetricsHandler()
}

// closeSockets ends the WebSockets, which the HTTP server does not track, and refuses new ones.
func (n *instance) closeSockets() {
	if n.clusters != nil {
		n.clusters.close()
		return
	}
	n.only.now().web.Close()
}

// clusterID is the id of the only cluster; "" before it is known, and on a server of several.
func (n *instance) clusterID() string {
	if n.only == nil {
		return ""
	}
	return n.only.now().watcher.Table().ClusterID
}

// waitLoaded waits until what pages show is loaded, but not for long.
func (n *instance) waitLoaded(ctx context.Context) {
	if n.clusters != nil {
		n.clusters.waitLoaded(ctx)
		return
	}
	n.only.now().waitLoaded(ctx)
}
