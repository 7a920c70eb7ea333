// Package app wires the program: New connects and binds and starts nothing,
// Start runs it, Stop ends it in the opposite order of its making.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/chunksize"
	"shardboard/internal/cluster"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/heat/survey"
	"shardboard/internal/outcome"
	"shardboard/internal/placement"
	"shardboard/internal/store"
	"shardboard/internal/topology"
	"shardboard/web"
)

const (
	connectTimeout  = 10 * time.Second
	shutdownTimeout = 5 * time.Second
)

// App is one running dashboard.
type App struct {
	log      *slog.Logger
	ends     cleanup
	listener net.Listener
	http     *http.Server
	web      *web.Server
	watcher  *topology.Watcher
	keeper   *placement.Keeper

	duplicates *placement.DuplicateCheck
	heat       *heat.Collector
	pictures   *keyvis.Recorder
	surveys    *survey.Engine
	sizes      *chunksize.Book
	history    placementHistory
	advising   advising
	engine     *engine.Engine    // nil while actions are off
	pins       *pinBook          // and so is this
	outcomes   *outcome.Recorder // and this

	store       store.Store
	upkeep      upkeep
	auth        *auth.Service
	trail       auditTrail
	public      string   // as browsers come: scheme and host
	opsListener *bounded // health and metrics; nil while they are on the page's own
	ops         *http.Server

	stop  context.CancelFunc // ends the goroutines of Start
	group *errgroup.Group
	once  sync.Once
	ended error
}

// New connects to the cluster and binds the listener. The error says in one
// line what is wrong: an address that does not answer, a target that is not a
// mongos, a port that is taken.
func New(ctx context.Context, c Config) (*App, error) {
	a := &App{log: c.Log, ends: cleanup{log: c.Log}}
	if err := a.wire(ctx, c); err != nil {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, a.ends.run(ctx))
	}
	return a, nil
}

func (a *App) wire(ctx context.Context, c Config) error {
	if err := a.open(ctx, c); err != nil {
		return err
	}
	client, err := connect(ctx, c)
	if err != nil {
		return err
	}
	a.ends.push("cluster client", client.Close)

	prof := c.profile()
	c.Watcher.Log = c.Log
	a.watcher = topology.NewWatcher(client, c.Watcher)
	a.keeper = placement.NewKeeper(client, a.watcher, prof, c.Log)
	a.duplicates = placement.NewDuplicateCheck(client, a.watcher, a.keeper, prof, c.Log)
	budget := heat.NewBudget(0, nil) // of all that measures
	a.heat = heat.NewCollector(client, a.watcher, prof, heat.Options{Budget: budget, Log: c.Log})
	a.surveys = survey.New(client, a.watcher, a.keeper, prof, survey.Options{Store: a.store, Budget: budget, Log: c.Log})
	a.sizes = chunksize.New(client, a.watcher, c.Log)
	a.pictures = keyvis.New(a.watcher, a.store, c.Log)
	a.heat.OnSlot(a.pictures.Take)
	a.history = newHistory(a.store, a.watcher, c.Log)
	actions := a.wireActions(c, client, prof)
	a.advising = a.newAdvising(c)
	locator := placement.NewLocator(client, a.watcher, a.keeper, prof)
	locator.MarkShared(a.duplicates)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	exposed := c.exposed(a.host())
	var pins web.Pins
	if a.pins != nil {
		pins = a.pins
	}
	var outcomes web.Outcomes
	if a.outcomes != nil {
		outcomes = a.outcomes
	}
	a.web = web.New(web.Deps{
		Watcher: a.watcher, Keeper: a.keeper, Profile: prof,
		Locator: locator, Duplicates: a.duplicates, Heat: a.heat, Pictures: a.pictures, Surveys: a.surveys, Sizes: a.sizes,
		Prover:   placement.NewProver(client, a.watcher),
		History:  a.history.past,
		Runs:     a.ourRuns(),
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
		Trouble:  a.upkeep.db.Trouble,

		Unreadable: a.upkeep.db.Unreadable,
		Actions:    actions,
		PlanForms:  actions != nil,
		Trier:      a.trier(),
		Pins:       pins,
		Outcomes:   outcomes,
		Auth:       a.auth,
		TLS:        c.overTLS(),
		Exposed:    exposed,
		ReadOnly:   a.ReadOnly(),
	})
	a.http = newHTTPServer(a.web.Handler(), c.Log)
	if c.TLSCert != "" {
		pair, err := openCertificate(c.TLSCert, c.TLSKey, c.Log)
		if err != nil {
			return err
		}
		a.http.TLSConfig = pair.config()
	}
	if !exposed {
		return nil
	}
	return a.openOperations(c)
}

// open binds the listener, opens what is remembered, and says who may come in,
// all before the cluster is asked for anything.
func (a *App) open(ctx context.Context, c Config) error {
	mode, err := auth.ParseMode(c.Auth.Mode)
	if err != nil {
		return err
	}
	c.Auth.Mode = string(mode)
	if err := c.checkExposure(); err != nil {
		return err
	}
	proxies, err := c.proxies()
	if err != nil {
		return err
	}
	var leaked *auth.Leaked
	if c.Auth.Leaked != "" {
		if leaked, err = auth.OpenLeaked(c.Auth.Leaked); err != nil {
			return err
		}
		a.ends.push("leaked passwords", func(context.Context) error { return leaked.Close() })
	}
	l, err := bind(c.Listen, "--listen")
	if err != nil {
		return err
	}
	a.ends.push("listener", func(context.Context) error { return ignoreClosed(l.Close()) })
	a.listener = bound(l, maxConnections, maxFromOne, proxies...)
	if a.public = strings.TrimRight(c.PublicURL, "/"); a.public == "" {
		scheme := "http"
		if c.TLSCert != "" {
			scheme = "https"
		}
		a.public = scheme + "://" + l.Addr().String()
	}
	if err := a.openData(ctx, c.DataDir); err != nil {
		return err
	}
	if a.trail, err = keepAudit(a.store, c.DataDir, c.AuditKey, c.Log); err != nil {
		return err
	}
	o, err := c.authOptions(a.store, a.public)
	if err != nil {
		return err
	}
	o.Leaked = leaked
	a.auth, err = auth.New(o)
	return err
}

// connect dials with a deadline and makes sure that the target is a mongos.
func connect(ctx context.Context, c Config) (*cluster.Client, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	return cluster.Connect(ctx, c.URI, c.Cluster)
}

// Start begins to poll and to serve. It returns at once; Wait tells the end.
func (a *App) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	group, ctx := errgroup.WithContext(ctx)
	a.group = group
	group.Go(func() error { return a.watcher.Run(ctx) })
	group.Go(func() error { return a.keeper.Run(ctx) })
	group.Go(func() error { return a.duplicates.Run(ctx) })
	group.Go(func() error { return a.heat.Run(ctx) })
	group.Go(func() error { return a.pictures.Run(ctx) })
	group.Go(func() error { return a.surveys.Run(ctx) })
	group.Go(func() error { return a.sizes.Run(ctx) })
	group.Go(func() error { return a.history.run(ctx) })
	group.Go(func() error { return a.advising.advisor.Run(ctx) })
	group.Go(func() error { return a.advising.tell(ctx) })
	group.Go(func() error { return a.web.Run(ctx) })
	group.Go(func() error { return a.trail.Run(ctx) })
	group.Go(func() error { return a.upkeep.run(ctx) })
	if a.engine != nil {
		group.Go(func() error { return a.engine.Serve(ctx) })
		group.Go(func() error { return a.pins.run(ctx) })
		if a.store.Owner() { // another process keeps what this one only reads
			group.Go(func() error { return a.outcomes.Run(ctx) })
		}
	}
	group.Go(func() error { return serve(a.http, a.listener) })
	if a.ops != nil {
		group.Go(func() error { return serve(a.ops, a.opsListener) })
	}
	// A part that fails ends the others; Serve has to be told.
	context.AfterFunc(ctx, func() {
		_ = a.http.Close()
		if a.ops != nil {
			_ = a.ops.Close()
		}
	})
}

// serve runs a server until it is shut down, by TLS if it has a certificate.
func serve(s *http.Server, l net.Listener) error {
	run := s.Serve
	if s.TLSConfig != nil {
		run = func(l net.Listener) error { return s.ServeTLS(l, "", "") }
	}
	if err := run(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// Addr is where browsers connect: host:port.
func (a *App) Addr() string { return a.listener.Addr().String() }

// URL is the address of the start page.
func (a *App) URL() string { return a.public + "/" }

// FirstLink is the address by which the first admin comes in, once and within an
// hour; "" when there are users. It is for a terminal and never for a log.
func (a *App) FirstLink(ctx context.Context) (string, error) {
	path, err := a.auth.FirstLink(ctx)
	if err != nil || path == "" {
		return "", err
	}
	return a.public + path, nil
}

// host is the address that browsers connect to, without port.
func (a *App) host() string {
	host, _, err := net.SplitHostPort(a.Addr())
	if err != nil {
		return ""
	}
	return host
}

// Wait blocks until every part has ended and gives the first failure.
func (a *App) Wait() error {
	err := a.group.Wait()
	if errors.Is(err, context.Canceled) {
		return nil
	}
	return err
}

// Stop ends everything: sockets first (the HTTP server does not know them),
// then requests, then polling, then the client. Safe to call more than once.
func (a *App) Stop(ctx context.Context) error {
	a.once.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
		defer cancel()
		a.web.Close()
		err := a.http.Shutdown(ctx)
		if a.ops != nil {
			err = errors.Join(err, a.ops.Shutdown(ctx))
		}
		a.stop()
		a.ended = errors.Join(err, a.Wait(), a.ends.run(ctx))
	})
	return a.ended
}

// Watcher gives tests and one-shot commands the table.
func (a *App) Watcher() *topology.Watcher { return a.watcher }

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
