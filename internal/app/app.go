// Package app wires the program: New connects and binds and starts nothing,
// Start runs it, Stop ends it in the opposite order of its making.
package app

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"golang.org/x/sync/errgroup"

	"shardboard/internal/cluster"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
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
	l, err := listen(c.Listen)
	if err != nil {
		return err
	}
	a.listener = l
	a.ends.push("listener", func(context.Context) error { return ignoreClosed(l.Close()) })

	client, err := connect(ctx, c)
	if err != nil {
		return err
	}
	a.ends.push("cluster client", client.Close)

	prof := profile.Yorkie()
	c.Watcher.Log = c.Log
	a.watcher = topology.NewWatcher(client, c.Watcher)
	a.keeper = placement.NewKeeper(client, a.watcher, prof, c.Log)
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	a.web = web.New(web.Deps{
		Watcher: a.watcher, Keeper: a.keeper, Profile: prof,
		Locator:  placement.NewLocator(client, a.watcher, a.keeper, prof),
		Log:      c.Log,
		Registry: registry,
		Cost:     client.LoadPerMinute,
		Hosts:    c.Hosts,
		Target:   c.URI.String(),
		Demo:     c.Demo,
		Version:  c.Version,
	})
	a.http = &http.Server{
		Handler:           a.web.Handler(),
		ReadHeaderTimeout: web.ReadHeaderTimeout,
		ReadTimeout:       web.ReadTimeout,
		WriteTimeout:      web.WriteTimeout,
		IdleTimeout:       web.IdleTimeout,
		MaxHeaderBytes:    web.MaxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(c.Log.Handler(), slog.LevelDebug),
	}
	return nil
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
	group.Go(func() error { return a.web.Run(ctx) })
	group.Go(func() error {
		if err := a.http.Serve(a.listener); !errors.Is(err, http.ErrServerClosed) {
			return err
		}
		return nil
	})
	// A part that fails ends the others; Serve has to be told.
	context.AfterFunc(ctx, func() { _ = a.http.Close() })
}

// Addr is where browsers connect: host:port.
func (a *App) Addr() string { return a.listener.Addr().String() }

// URL is the address of the start page.
func (a *App) URL() string { return "http://" + a.Addr() + "/" }

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
