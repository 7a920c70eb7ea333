// Package app wires the program: New opens and binds but starts nothing, Start runs everything,
// and Stop ends it in reverse order.
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
	"shardboard/internal/memory"
	"shardboard/internal/metrics"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

const (
	connectTimeout  = 10 * time.Second
	shutdownTimeout = 5 * time.Second
)

// App is one running dashboard: its listeners, HTTP servers and life cycle. Everything that depends
// on the data directory is in an instance, which is replaced when this process takes the directory
// over.
type App struct {
	log      *slog.Logger
	config   Config // as it was at the start; goroutines read it
	dir      string // data directory
	cleanup  cleanup
	listener *connlimit.Listener
	http     *http.Server
	public   string // address as browsers use it, without a slash at its end
	root     string // its path; "" without one
	leaked   *auth.Leaked
	front    front
	reload   *metrics.Reload
	memory   *memory.Guard // nil: no limit

	opsListener *connlimit.Listener // health and metrics; nil while the pages' listener serves them
	ops         *http.Server

	takeoverMu     sync.Mutex      // held during a takeover of the data directory, and a reload
	reloaded       []ClusterConfig // of the last reload; nil: those of config; under takeoverMu
	stopping       context.Context
	cancelStopping context.CancelFunc // cancels leaving; called when Stop begins

	life  context.Context // context of everything that runs
	stop  context.CancelFunc
	group *errgroup.Group
	once  sync.Once
	ended error
}

// New wires everything and binds the listener. It does not wait for the cluster: pages say what is
// wrong with it. Its error is one line, such as about an address that is malformed or a port in use.
func New(ctx context.Context, c Config) (*App, error) {
	a := &App{log: c.Log, config: c, cleanup: cleanup{log: c.Log}, reload: metrics.NewReload(time.Now())}
	a.stopping, a.cancelStopping = context.WithCancel(context.Background())
	if err := a.wire(ctx, c); err != nil {
		a.cancelStopping()
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), shutdownTimeout)
		defer cancel()
		return nil, errors.Join(err, a.cleanup.run(ctx))
	}
	return a, nil
}

func (a *App) wire(ctx context.Context, c Config) error {
	a.memory = memory.New(c.MemoryLimit)
	if err := a.checkAndBind(c); err != nil {
		return err
	}
	if a.config.exposed(a.host()) || c.OpsListen != "" {
		if err := a.openOperations(a.config); err != nil {
			return err
		}
	}
	db, err := a.openStore(ctx)
	if err != nil {
		return err
	}
	first, err := a.newInstance(ctx, db)
	if err != nil {
		return err
	}
	a.front.set(first)
	a.cleanup.push("instance", func(ctx context.Context) error { return a.current().cleanup.run(ctx) })
	a.http = newHTTPServer(site.Below(a.root, &a.front), c.Log, a.listener)
	if c.TLSCert != "" {
		pair, err := openCertificate(c.TLSCert, c.TLSKey, c.Log)
		if err != nil {
			return err
		}
		a.http.TLSConfig = pair.config()
	}
	return nil
}

// checkAndBind checks the configuration and binds the listener, before the data is opened and the cluster
// is contacted.
func (a *App) checkAndBind(c Config) error {
	c, err := c.checked()
	if err != nil {
		return err
	}
	a.config = c
	for _, text := range c.Ignored() {
		a.log.Warn(text)
	}
	bounds, err := c.connectionBounds()
	if err != nil {
		return err
	}
	if c.Auth.Leaked != "" {
		if a.leaked, err = auth.OpenLeaked(c.Auth.Leaked); err != nil {
			return err
		}
		a.cleanup.push("leaked passwords", func(context.Context) error { return a.leaked.Close() })
	}
	l, err := bind(c.Listen, "--listen")
	if err != nil {
		return err
	}
	a.cleanup.push("listener", func(context.Context) error { return ignoreClosed(l.Close()) })
	a.listener = connlimit.New(l, bounds)
	a.root = c.root()
	if a.public = strings.TrimRight(c.PublicURL, "/"); a.public == "" {
		scheme := "http"
		if c.TLSCert != "" {
			scheme = "https"
		}
		a.public = scheme + "://" + l.Addr().String()
	}
	return nil
}

// Start starts polling and serving and returns at once; Wait blocks until the end.
func (a *App) Start() {
	ctx, cancel := context.WithCancel(context.Background())
	a.stop = cancel
	a.group, a.life = errgroup.WithContext(ctx)
	a.current().start(a.life)
	a.group.Go(a.current().wait)
	a.group.Go(func() error { return serve(a.http, a.listener) })
	if a.ops != nil {
		a.group.Go(func() error { return serve(a.ops, a.opsListener) })
	}
	// When one part fails, the others end by their context; the HTTP servers must be closed.
	context.AfterFunc(a.life, func() {
		_ = a.http.Close()
		if a.ops != nil {
			_ = a.ops.Close()
		}
	})
}

// serve runs a server until it is shut down, with TLS if it has a certificate.
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

// countedListeners are the listeners whose connections appear in the metrics.
func (a *App) countedListeners() connlimit.Metrics {
	if a.opsListener == nil {
		return connlimit.Metrics{a.listener}
	}
	return connlimit.Metrics{a.listener, a.opsListener}
}

// Addr is the listen address: host:port.
func (a *App) Addr() string { return a.listener.Addr().String() }

// URL is the address of the start page.
func (a *App) URL() string { return a.public + "/" }

// FirstLink is the address that creates the first admin, once and within an hour; "" when users
// exist. Print it to a terminal and never to a log.
func (a *App) FirstLink(ctx context.Context) (string, error) {
	path, err := a.current().auth.FirstLink(ctx)
	if err != nil || path == "" {
		return "", err
	}
	return a.public + path, nil
}

// host is the listen address without port.
func (a *App) host() string {
	host, _, err := net.SplitHostPort(a.Addr())
	if err != nil {
		return ""
	}
	return host
}

// Wait blocks until every part has ended and returns the first failure.
func (a *App) Wait() error { return waitFor(a.group) }

// waitFor waits for the parts of a group; that they were cancelled is no failure.
func waitFor(g *errgroup.Group) error {
	if err := g.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// Stop ends everything: first WebSockets, which the HTTP server does not track, then requests,
// polling and the cluster client. Safe to call more than once.
func (a *App) Stop(ctx context.Context) error {
	a.once.Do(func() {
		ctx, cancel := context.WithTimeout(ctx, shutdownTimeout)
		defer cancel()
		a.cancelStopping() // cancels a takeover
		a.takeoverMu.Lock()
		defer a.takeoverMu.Unlock()
		a.current().closeSockets()
		err := a.http.Shutdown(ctx)
		if a.ops != nil {
			err = errors.Join(err, a.ops.Shutdown(ctx))
		}
		a.current().refusals.Flush() // before the audit keeper signs the end of the record
		a.stop()
		a.ended = errors.Join(err, a.Wait(), a.cleanup.run(ctx))
	})
	return a.ended
}

// Watcher returns the topology watcher, for tests and one-shot commands.
func (a *App) Watcher() *topology.Watcher { return a.current().only.now().watcher }

// current is the instance that serves.
func (a *App) current() *instance { return a.front.instance() }

func ignoreClosed(err error) error {
	if errors.Is(err, net.ErrClosed) {
		return nil
	}
	return err
}
