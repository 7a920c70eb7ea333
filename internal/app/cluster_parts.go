package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/offering"
	"shardboard/internal/chunksize"
	"shardboard/internal/cluster"
	"shardboard/internal/heat"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/heat/rowsample"
	"shardboard/internal/heat/survey"
	"shardboard/internal/memory"
	"shardboard/internal/metrics"
	"shardboard/internal/outcome"
	"shardboard/internal/placement"
	"shardboard/internal/relay"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
)

// clusterParts is everything that one cluster has: its client, what watches and measures it, the
// engine that changes it, and its pages. It stores what it remembers in the store of its instance,
// under the cluster's id.
type clusterParts struct {
	log     *slog.Logger
	cleanup cleanup
	store   store.Store
	shared  store.Leadership // of all clusters

	unsealed func() []store.Unsealed // rows of the store that somebody else wrote

	client *cluster.Client
	last   lastCluster
	saved  savedTable
	names  projectNames

	web        *web.Server
	watcher    *topology.Watcher
	keeper     *placement.Keeper
	proposer   *proposer
	kept       *keptProfile
	duplicates *placement.DuplicateCheck
	heat       *heat.Collector
	pictures   *keyvis.Recorder
	surveys    *survey.Engine
	rows       *rowsample.Sampler
	holdings   *holdings.Engine
	sizes      *chunksize.Book
	history    placementHistory
	advising   advising
	moves      *metrics.Moves
	engine     *engine.Engine    // nil while actions are off
	pins       *pinIndex         // nil while actions are off
	outcomes   *outcome.Recorder // nil while actions are off

	relay *relay.Relay // what only the leader can do, when people ask for it here

	engineParts engineParts // what engine was made of; zero while actions are off

	registry *prometheus.Registry // metrics of the cluster; with those of the process if it is the only one
	among    *member              // of several clusters; nil: the only one

	stop  context.CancelFunc // ends the goroutines of start
	group *errgroup.Group
}

// newClusterParts wires the parts of a cluster, which need not be reachable, and starts nothing. It leaves nothing
// open when it fails, which it does for a configuration that can never work. among is the cluster's place among
// several; nil: it is the only one.
func newClusterParts(ctx context.Context, n *instance, a *App, c ClusterConfig, among *member) (*clusterParts, error) {
	p := &clusterParts{log: c.Log, cleanup: cleanup{log: c.Log}, store: n.store, shared: n.store, registry: a.registry(), among: among,
		unsealed: n.seals.Unsealed}
	if among != nil {
		p.registry = prometheus.NewRegistry()
		p.store = &ownRecords{Store: n.store, id: func() string { return p.watcher.Table().ClusterID }}
	}
	c.Cluster.Log = c.Log
	c.Cluster.Reader = readerOf(ctx, n.store, c.Log)
	client, err := cluster.Open(c.URI, c.Cluster)
	if err != nil {
		return nil, err
	}
	p.cleanup.push("cluster client", client.Close)
	p.client = client
	p.last = lastCluster{store: n.store, key: lastClusterKey(c.URI.Hosts()), log: c.Log}
	p.names = projectNames{n.store, c.Log}
	if c.Watcher.Known == "" {
		c.Watcher.Known = p.last.read(ctx)
	}
	p.saved = a.savedTableOf(n, c)
	c.Watcher.Saved = p.saved.read(c.Watcher.Known, a.memory.Grow)
	p.kept = &keptProfile{store: n.store, trail: n.trail, log: c.Log, given: c.Profile != nil, renew: func() { n.replaceCluster(a) }}
	if among != nil {
		p.kept.renew = among.renew
	}
	if !p.kept.given {
		c.Profile, p.kept.text = readKept(ctx, n.store, c.Watcher.Known, c.Log)
	}
	c.memory = a.memory
	p.wire(client, c, accountsOf(n.auth, among))
	deps := p.webDeps(n, a, client, c)
	deps.Past.StoredProjects = p.names.read(ctx, c.Watcher.Known)
	p.web = web.New(deps)
	return p, nil
}

// connect is for commands that end with their question: it dials with a deadline and checks that the
// target is a mongos.
func connect(ctx context.Context, c ClusterConfig) (*cluster.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return cluster.Connect(ctx, c.URI, c.Cluster)
}

// wire makes all parts but the pages.
func (p *clusterParts) wire(client *cluster.Client, c ClusterConfig, who accounts) {
	prof := c.profile()
	c.Watcher.Log = c.Log
	c.Watcher.Follow = p.follows
	c.Watcher.Grow = c.memory.Grow
	p.watcher = topology.NewWatcher(client, c.Watcher)
	p.keeper = placement.NewKeeper(client, p.watcher, prof, c.Log)
	p.proposer = &proposer{src: client, watcher: p.watcher, profile: prof, log: c.Log}
	p.kept.watcher, p.kept.from = p.watcher, p.proposer
	p.duplicates = placement.NewDuplicateCheck(client, p.watcher, p.keeper, prof, c.Log)
	budget := heat.NewBudget(0, nil) // shared by everything that measures
	budget.PauseWhile(func() bool { return c.memory.Step() >= memory.Heat })
	p.heat = heat.NewCollector(client, p.watcher, prof, heat.Options{Budget: budget, Log: c.Log})
	p.rows = rowsample.New(client, p.watcher, budget, 0, nil)
	p.surveys = survey.New(client, p.watcher, p.keeper, prof, survey.Options{Store: p.store, Budget: budget, Log: c.Log})
	p.holdings = holdings.New(client, p.watcher, prof,
		holdings.Options{Store: p.store, Budget: budget, PerMinute: c.HoldingsPerMinute, Log: c.Log})
	p.sizes = chunksize.New(client, p.watcher, c.Log)
	p.pictures = keyvis.New(p.watcher, p.store, c.Log)
	p.heat.OnSlot(p.pictures.Take)
	p.history = newHistory(p.store, p.watcher, c.Log)
	p.wireActions(c, client, prof, who)
	p.relay = relay.New(p.shared, who, func() string { return p.watcher.Table().ClusterID }, c.Log)
	p.advising = p.newAdvising(c)
}

// follows tells whether this process keeps a cursor at the end of the changelog: one of several replicas does.
func (p *clusterParts) follows() bool {
	return p.store == nil || p.store.Leads() || !p.store.Leader().Shared
}

// webDeps is what the cluster's pages are made of.
func (p *clusterParts) webDeps(n *instance, a *App, client *cluster.Client, c ClusterConfig) site.Deps {
	prof := c.profile()
	shown := topology.Showing{Watcher: p.watcher}
	locator := placement.NewLocator(client, shown, p.keeper, prof)
	locator.MarkShared(p.duplicates)
	d := site.Deps{
		Log: c.Log, Demo: c.Demo,
		Cluster: site.ClusterDeps{
			Watcher: shown, Keeper: p.keeper, Profile: prof, Proposer: p.proposer, Kept: p.kept,
			Target: c.URI.String(), HideBounds: c.HideBounds,
		},
		Locate: site.LocateDeps{
			Locator: locator, Prover: placement.NewProver(client, p.watcher), Duplicates: p.duplicates, Metadata: client,
			Owners: placement.NewOwners(client, nil),
		},
		Measured: site.MeasuredDeps{
			Heat: p.heat, Pictures: p.pictures, Surveys: relay.NewSurveys(p.relay, p.surveys), Rows: p.rows, Sizes: p.sizes, Holdings: p.holdings,
		},
		Past:     site.PastDeps{History: p.history.past, Runs: p.ownRuns()},
		Problems: site.ProblemDeps{Past: p.advising.history, Advice: p.advising.advisor, Alerts: p.advising.alerts},
		Changes:  site.ChangeDeps{Trier: p.trier()},
		Metrics:  site.MetricDeps{Registry: p.registry, Cost: client.LoadPerMinute},
	}
	if p.engine != nil { // nil pointers in interfaces would not be nil
		d.Changes.Actions, d.Changes.PlanForms, d.Changes.Pins, d.Changes.Outcomes = relay.NewRuns(p.relay, p.engine), true, p.pins, p.outcomes
	}
	n.addShared(&d, a)
	d.Metrics.Registry.MustRegister(p.metrics(client, c, a.config.MetricsProjects))
	if w := p.waitingRequests(); w != nil {
		d.Metrics.Registry.MustRegister(w)
	}
	if m := p.among; m != nil {
		m.of.addTo(&d, m)
	}
	return d
}

// start starts all parts.
func (p *clusterParts) start(ctx context.Context) {
	ctx, p.stop = context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	p.group = group
	group.Go(func() error { return p.client.Watch(ctx) })
	if p.store.Owner() {
		group.Go(func() error { return p.client.EndLeftCursors(ctx, p.store.Living) })
	}
	group.Go(func() error { return p.last.run(ctx, p.watcher) })
	group.Go(func() error { return p.names.run(ctx, p.keeper, p.watcher) })
	group.Go(func() error { return p.saved.run(ctx, p.watcher) })
	group.Go(func() error { return p.watcher.Run(ctx) })
	group.Go(func() error { return p.keeper.Run(ctx) })
	group.Go(func() error { return p.proposer.run(ctx) })
	group.Go(func() error { return p.kept.run(ctx) })
	group.Go(func() error { return p.duplicates.Run(ctx) })
	group.Go(func() error { return p.heat.Run(ctx) })
	whenAlone := p.claimID(ctx, group)
	group.Go(func() error { return whenAlone(p.pictures.Run) })
	group.Go(func() error { return whenAlone(p.surveys.Run) })
	group.Go(func() error { return p.holdings.Run(ctx) })
	group.Go(func() error { return p.rows.Run(ctx) })
	group.Go(func() error { return p.sizes.Run(ctx) })
	group.Go(func() error { return whenAlone(p.history.run) })
	group.Go(func() error { return p.advising.advisor.Run(ctx) })
	group.Go(func() error { return p.advising.runAlerts(ctx) })
	group.Go(func() error {
		return whenAlone(func(ctx context.Context) error { return p.store.Lead(ctx, p.advising.history.Run) })
	})
	group.Go(func() error { return p.moves.Run(ctx) })
	group.Go(func() error { return p.web.Run(ctx) })
	group.Go(func() error { return whenAlone(p.relay.Serve) })
	if p.engine != nil {
		group.Go(func() error { return whenAlone(p.engine.Serve) })
		group.Go(func() error { return p.pins.run(ctx) })
		group.Go(func() error {
			return whenAlone(func(ctx context.Context) error { return p.store.Lead(ctx, p.outcomes.Run) })
		})
	}
}

// claimID makes the cluster the only one of the server with its id. What records under the id, or takes
// over what an earlier process left under it, waits for that: it is passed to whenAlone.
func (p *clusterParts) claimID(ctx context.Context, group *errgroup.Group) (whenAlone func(func(context.Context) error) error) {
	if p.among == nil {
		return func(run func(context.Context) error) error { return run(ctx) }
	}
	alone := make(chan struct{})
	group.Go(func() error {
		if err := p.among.claim(ctx, p.watcher); err != nil {
			return err
		}
		close(alone)
		return nil
	})
	return func(run func(context.Context) error) error {
		select {
		case <-alone:
			return run(ctx)
		case <-ctx.Done():
			return nil
		}
	}
}

// wait blocks until every part has ended and returns the first failure.
func (p *clusterParts) wait() error { return waitFor(p.group) }

// waitLoaded waits until the routing table and the projects are loaded. It gives up after loadTime:
// pages report a cluster that does not answer.
func (p *clusterParts) waitLoaded(ctx context.Context) {
	late := time.After(loadTimeout)
	table, changed, stop := p.watcher.Subscribe()
	defer stop()
	_, dirs, stopDirs := p.keeper.Subscribe()
	defer stopDirs()
	for !table.Loaded || !p.keeper.Directory().Loaded() {
		select {
		case <-changed:
			table = p.watcher.Table()
		case <-dirs:
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// trier makes trial plans for pages; nil while actions are off.
func (p *clusterParts) trier() offering.Trier {
	if p.engine == nil {
		return nil
	}
	return p.engine
}
