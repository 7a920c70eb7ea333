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

	"golang.org/x/sync/errgroup"

	"shardboard/internal/auth"
	"shardboard/internal/connlimit"
	"shardboard/internal/topology"
)

const (
	connectTimeout  = 10 * time.Second
	shutdownTimeout = 5 * time.Second
)

// App is one running dashboard: what binds it to the machine. All that stands on
// the data directory is an instance, which is replaced when this process takes
// the directory over.
type App struct {
	log      *slog.Logger
	config   Config
	dir      string // of the data
	ends     cleanup
	listener *connlimit.Listener
	http     *http.Server
	public   string // as browsers come: scheme and host
	leaked   *auth.Leaked
	front    front

	opsListener *connlimit.Listener // health and metrics; nil while they are on the page's own
	ops         *http.Server

	taking  sync.Mutex // held while the data directory is taken over
	leaving context.Context
	leave   context.CancelFunc // ends leaving, as Stop begins

	life  context.Context // of everything that runs
	stop  context.CancelFunc
	group *errgroup.Group
	once  sync.Once
	ended error
}

// New connects to the cluster and binds the listener. The error says in one
// line what is wrong: an address that does not answer, a target that is not a
// mongos, a port that is taken.
func New(ctx context.Context, c Config) (*App, error) {
	a := &App{log: c.Log, config: c, ends: cleanup{log: c.Log}}
	a.leaving, a.leave = context.WithCancel(context.Background())
	if err := a.wire(ctx, c); err != nil {
		a.leave()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, a.ends.run(ctx))
	}
	return a, nil
}

func (a *App) wire(ctx context.Context, c Config) error {
	if err := a.open(c); err != nil {
		return err
	}
	if a.config.exposed(a.host()) {
		if err := a.openOperations(a.config); err != nil {
			return err
		}
	}
	db, err := a.openData(ctx)
	if err != nil {
		return err
	}
	first, err := a.newInstance(ctx, db)
	if err != nil {
		return err
	}
	a.front.set(first)
	a.ends.push("instance", func(ctx context.Context) error { return a.now().ends.run(ctx) })
	a.http = newHTTPServer(&a.front, c.Log, a.listener)
	if c.TLSCert != "" {
		pair, err := openCertificate(c.TLSCert, c.TLSKey, c.Log)
		if err != nil {
			return err
		}
		a.http.TLSConfig = pair.config()
	}
	return nil
}

// open checks the configuration and binds the listener, before data is opened and
// the cluster is asked for anything.
func (a *App) open(c Config) error {
	mode, err := auth.ParseMode(c.Auth.Mode)
	if err != nil {
		return err
	}
	c.Auth.Mode = string(mode)
	a.config = c
	if err := c.checkExposure(); err != nil {
		return err
	}
	bounds, err := c.connectionBounds()
	if err != nil {
		return err
	}
	if c.Auth.Leaked != "" {
		if a.leaked, err = auth.OpenLeaked(c.Auth.Leaked); err != nil {
			return err
		}
		a.ends.push("leaked passwords", func(context.Context) error { return a.leaked.Close() })
	}
	l, err := bind(c.Listen, "--listen")
	if err != nil {
		return err
	}
	a.ends.push("listener", func(context.Context) error { return ignoreClosed(l.Close()) })
	a.listener = connlimit.New(l, bounds)
	if a.public = strings.TrimRight(c.PublicURL, "/"); a.public == "" {
		scheme := "http"
		if c.TLSCert != "" {
			scheme = "https"
		}
		a.public = scheme + "://" + l.Addr().String()
	}
	return nil
}

// Start begins to poll and to serve. It returns at once; Wait tells the end.
func (a *App) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	a.group, a.life = errgroup.WithContext(ctx)
	a.now().start(a.life)
	a.group.Go(a.now().wait)
	a.group.Go(func() error { return serve(a.http, a.listener) })
	if a.ops != nil {
		a.group.Go(func() error { return serve(a.ops, a.opsListener) })
	}
	// A part that fails ends the others; Serve has to be told.
	context.AfterFunc(a.life, func() {
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

// counted are the listeners whose connections are in the metrics.
func (a *App) counted() connlimit.Metrics {
	if a.opsListener == nil {
		return connlimit.Metrics{a.listener}
	}
	return connlimit.Metrics{a.listener, a.opsListener}
}

// Addr is where browsers connect: host:port.
func (a *App) Addr() string { return a.listener.Addr().String() }

// URL is the address of the start page.
func (a *App) URL() string { return a.public + "/" }

// FirstLink is the address by which the first admin comes in, once and within an
// hour; "" when there are users. It is for a terminal and never for a log.
func (a *App) FirstLink(ctx context.Context) (string, error) {
	path, err := a.now().auth.FirstLink(ctx)
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
		a.leave() // taking over is given up
		a.taking.Lock()
		defer a.taking.Unlock()
		a.now().web.Close()
		err := a.http.Shutdown(ctx)
		if a.ops != nil {
			err = errors.Join(err, a.ops.Shutdown(ctx))
		}
		a.now().refusals.Flush() // before the keeper signs the end of the record
		a.stop()
		a.ended = errors.Join(err, a.Wait(), a.ends.run(ctx))
	})
	return a.ended
}

// Watcher gives tests and one-shot commands the table.
func (a *App) Watcher() *topology.Watcher { return a.now().watcher }

// now is the instance that serves.
func (a *App) now() *instance { return a.front.get() }

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
