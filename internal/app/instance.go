package app

import (
	"context"
	"errors"
	"log/slog"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/actions/engine"
	answers "shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/chunksize"
	"shardboard/internal/cluster"
	"shardboard/internal/heat"
	"shardboard/internal/heat/holdings"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/heat/survey"
	"shardboard/internal/outcome"
	"shardboard/internal/placement"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/store/sqlite"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
)

// instance is everything that depends on one opening of the data directory: what each part does
// depends on whether this process owns it.
type instance struct {
	log      *slog.Logger
	cleanup  cleanup
	web      *web.Server
	watcher  *topology.Watcher
	keeper   *placement.Keeper
	requests inFlight

	duplicates *placement.DuplicateCheck
	heat       *heat.Collector
	pictures   *keyvis.Recorder
	surveys    *survey.Engine
	holdings   *holdings.Engine
	sizes      *chunksize.Book
	history    placementHistory
	advising   advising
	engine     *engine.Engine    // nil while actions are off
	pins       *pinIndex         // nil while actions are off
	outcomes   *outcome.Recorder // nil while actions are off

	engineParts engineParts // what engine was made of; zero while actions are off

	db       *sqlite.DB
	store    store.Store // db as the interface that the parts use
	auth     *auth.Service
	trail    auditTrail
	refusals *audit.Refusals
	upkeep   upkeep

	stop  context.CancelFunc // ends the goroutines of start
	group *errgroup.Group
}

// newInstance wires all parts over an open data directory and starts nothing. It closes the
// directory when it fails.
func (a *App) newInstance(ctx context.Context, db *sqlite.DB) (*instance, error) {
	n := &instance{log: a.log, cleanup: cleanup{log: a.log}, db: db, store: db, upkeep: upkeep{db: db, log: a.log}}
	n.cleanup.push("store", func(context.Context) error { return db.Close() })
	if err := n.wire(ctx, a); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, n.cleanup.run(ctx))
	}
	return n, nil
}

func (a *instance) wire(ctx context.Context, of *App) (err error) {
	c := of.config
	if a.trail, err = keepAudit(a.store, c.DataDir, c.AuditKey, c.Log); err != nil {
		return err
	}
	o, err := c.authOptions(a.store, of.public)
	if err != nil {
		return err
	}
	o.Leaked = of.leaked
	a.refusals = auth.NewRefusals(a.store, c.Log, nil)
	o.Refusals = a.refusals
	if a.auth, err = auth.New(o); err != nil {
		return err
	}
	client, err := connect(ctx, c)
	if err != nil {
		return err
	}
	a.cleanup.push("cluster client", client.Close)

	prof := c.profile()
	c.Watcher.Log = c.Log
	a.watcher = topology.NewWatcher(client, c.Watcher)
	a.keeper = placement.NewKeeper(client, a.watcher, prof, c.Log)
	a.duplicates = placement.NewDuplicateCheck(client, a.watcher, a.keeper, prof, c.Log)
	budget := heat.NewBudget(0, nil) // shared by everything that measures
	a.heat = heat.NewCollector(client, a.watcher, prof, heat.Options{Budget: budget, Log: c.Log})
	a.surveys = survey.New(client, a.watcher, a.keeper, prof, survey.Options{Store: a.store, Budget: budget, Log: c.Log})
	a.holdings = holdings.New(client, a.watcher, prof,
		holdings.Options{Store: a.store, Budget: budget, PerMinute: c.HoldingsPerMinute, Log: c.Log})
	a.sizes = chunksize.New(client, a.watcher, c.Log)
	a.pictures = keyvis.New(a.watcher, a.store, c.Log)
	a.heat.OnSlot(a.pictures.Take)
	a.history = newHistory(a.store, a.watcher, c.Log)
	actions := a.wireActions(c, client, prof)
	a.advising = a.newAdvising(c)
	locator := placement.NewLocator(client, a.watcher, a.keeper, prof)
	locator.MarkShared(a.duplicates)
	registry := prometheus.NewRegistry()
	registry.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		of.countedListeners(),
	)
	var pins answers.Pins
	if a.pins != nil {
		pins = a.pins
	}
	var outcomes answers.Outcomes
	if a.outcomes != nil {
		outcomes = a.outcomes
	}
	a.web = web.New(site.Deps{
		Watcher: a.watcher, Keeper: a.keeper, Profile: prof,
		Locator: locator, Duplicates: a.duplicates, Heat: a.heat, Pictures: a.pictures, Surveys: a.surveys, Sizes: a.sizes,
		Holdings: a.holdings,
		Prover:   placement.NewProver(client, a.watcher),
		History:  a.history.past,
		Runs:     a.ownRuns(),
		Advice:   a.advising.advisor,
		Alerts:   a.advising.alerts,
		Log:      c.Log,
		Registry: registry,
		Cost:     client.LoadPerMinute,
		Hosts:    c.hosts(),
		Target:   c.URI.String(),
		Demo:     c.Demo,
		Version:  c.Version,
		Audit:    a.trail,
		Refusals: a.refusals,
		Trouble:  a.db.Trouble,

		Unreadable: a.db.Unreadable,
		Actions:    actions,
		PlanForms:  actions != nil,
		Trier:      a.trier(),
		Pins:       pins,
		Outcomes:   outcomes,
		Auth:       a.auth,
		TLS:        c.overTLS(),
		Exposed:    c.exposed(of.host()),
		Data:       dataDirectory{a.db, of},

		MaxSockets: maxSockets(of.listener.Max()),
		HideBounds: c.HideBounds,
	})
	return nil
}

// connect dials with a deadline and checks that the target is a mongos.
func connect(ctx context.Context, c Config) (*cluster.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return cluster.Connect(ctx, c.URI, c.Cluster)
}

// start starts all parts.
func (a *instance) start(ctx context.Context) {
	ctx, a.stop = context.WithCancel(ctx)
	group, ctx := errgroup.WithContext(ctx)
	a.group = group
	group.Go(func() error { return a.db.Watch(ctx, a.log) })
	group.Go(func() error { return a.watcher.Run(ctx) })
	group.Go(func() error { return a.keeper.Run(ctx) })
	group.Go(func() error { return a.duplicates.Run(ctx) })
	group.Go(func() error { return a.heat.Run(ctx) })
	group.Go(func() error { return a.pictures.Run(ctx) })
	group.Go(func() error { return a.surveys.Run(ctx) })
	group.Go(func() error { return a.holdings.Run(ctx) })
	group.Go(func() error { return a.sizes.Run(ctx) })
	group.Go(func() error { return a.history.run(ctx) })
	group.Go(func() error { return a.advising.advisor.Run(ctx) })
	group.Go(func() error { return a.advising.runAlerts(ctx) })
	group.Go(func() error { return a.web.Run(ctx) })
	group.Go(func() error { return a.trail.Run(ctx) })
	group.Go(func() error { return a.refusals.Run(ctx) })
	group.Go(func() error { return a.upkeep.run(ctx) })
	if a.engine != nil {
		group.Go(func() error { return a.engine.Serve(ctx) })
		group.Go(func() error { return a.pins.run(ctx) })
		if a.store.Owner() { // only the owner records
			group.Go(func() error { return a.outcomes.Run(ctx) })
		}
	}
}

// wait blocks until every part has ended and returns the first failure.
func (a *instance) wait() error {
	if err := a.group.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}
