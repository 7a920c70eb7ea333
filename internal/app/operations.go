package app

import (
	"context"
	"log/slog"
	"net/http"

	"shardboard/internal/connlimit"
	"shardboard/web/site"
)

// defaultOps is the address of health and metrics when clients elsewhere can reach the pages'
// listener.
const defaultOps = "127.0.0.1:8091"

// openOperations binds a separate listener for health and metrics, which need no sign-in.
func (a *App) openOperations(c Config) error {
	addr := c.OpsListen
	if addr == "" {
		addr = defaultOps
	}
	l, err := bind(addr, "--ops-listen")
	if err != nil {
		return err
	}
	a.cleanup.push("operations listener", func(context.Context) error { return ignoreClosed(l.Close()) })
	a.opsListener = connlimit.New(
		l,
		connlimit.Options{Name: "operations", Max: opsConnections, PerSource: opsConnections / sourceShare, Log: c.Log},
	)
	a.ops = newHTTPServer(a.operations(), c.Log, a.opsListener)
	return nil
}

// operations serves three paths. It accepts any Host, because clients may use any name of this
// machine. The answers have figures and names of collections and shards (decision 014).
func (a *App) operations() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		a.front.serve(w, r, func(n *instance) http.Handler { return n.metrics() })
	})
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Host = "localhost"
		a.front.ServeHTTP(w, r)
	})
	mux.Handle("GET /healthz", site)
	mux.Handle("GET /readyz", site)
	return mux
}

// OpsAddr is the address of health and metrics: host:port.
func (a *App) OpsAddr() string {
	if a.opsListener == nil {
		return a.Addr()
	}
	return a.opsListener.Addr().String()
}

func newHTTPServer(h http.Handler, log *slog.Logger, l *connlimit.Listener) *http.Server {
	s := &http.Server{
		Handler:           h,
		ConnState:         l.ConnState,
		ConnContext:       l.ConnContext,
		ReadHeaderTimeout: site.ReadHeaderTimeout,
		ReadTimeout:       site.ReadTimeout,
		WriteTimeout:      site.WriteTimeout,
		IdleTimeout:       site.IdleTimeout,
		MaxHeaderBytes:    site.MaxHeaderBytes,
		ErrorLog:          slog.NewLogLogger(log.Handler(), slog.LevelDebug),
	}
	s.RegisterOnShutdown(l.CloseSilent)
	return s
}
