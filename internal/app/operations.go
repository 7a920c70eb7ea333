package app

import (
	"context"
	"crypto/subtle"
	"log/slog"
	"net/http"
	"strings"

	"shardboard/internal/connlimit"
	"shardboard/internal/fault"
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
	if c.OpsTLSCert != "" {
		pair, err := openCertificate(c.OpsTLSCert, c.OpsTLSKey, c.Log)
		if err != nil {
			return err
		}
		a.ops.TLSConfig = pair.config()
	}
	return nil
}

// checkOperations refuses what would protect nothing.
func (c Config) checkOperations() error {
	switch {
	case (c.OpsTLSCert == "") != (c.OpsTLSKey == ""):
		return fault.New(fault.Invalid, "TLS of --ops-listen needs both --ops-tls-cert and --ops-tls-key.")
	case c.OpsListen == "" && (c.OpsTLSCert != "" || c.OpsTokenFile != ""):
		return fault.New(fault.Invalid, "--ops-tls-cert and --ops-token-file are for --ops-listen: add it, such as --ops-listen :8091.")
	case c.OpsTokenFile != "":
		_, err := ReadSecret("token of --ops-listen", c.OpsTokenFile)
		return err
	}
	return nil
}

// protected lets those pass who send the token of the file, which may be replaced at any time. Prometheus can send it
// in either of two ways.
func (a *App) protected(next http.Handler) http.Handler {
	if a.config.OpsTokenFile == "" {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		want, err := ReadSecret("token of --ops-listen", a.config.OpsTokenFile)
		if err != nil {
			a.log.Error("metrics cannot be given out", "err", err)
			http.Error(w, "The token cannot be read; the log says why.", http.StatusServiceUnavailable)
			return
		}
		_, sent, basic := r.BasicAuth()
		if !basic {
			scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
			if sent = token; !strings.EqualFold(scheme, "Bearer") {
				sent = ""
			}
		}
		if subtle.ConstantTimeCompare([]byte(sent), []byte(want)) != 1 {
			w.Header().Add("WWW-Authenticate", `Bearer realm="shardboard metrics"`)
			w.Header().Add("WWW-Authenticate", `Basic realm="shardboard metrics"`)
			http.Error(w, "Metrics need the token of --ops-token-file.", http.StatusUnauthorized)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// operations serves three paths. It accepts any Host, because clients may use any name of this
// machine. The answers have figures and names of collections and shards (decision 014).
func (a *App) operations() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", a.protected(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a.front.serve(w, r, func(n *instance) http.Handler { return n.metrics() })
	})))
	site := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r = r.Clone(r.Context())
		r.Host = "localhost"
		a.front.ServeHTTP(w, r)
	})
	mux.Handle("GET /healthz", site)
	mux.Handle("GET /readyz", site)
	return mux
}

// OpsURL is the beginning of the addresses of health and metrics.
func (a *App) OpsURL() string {
	if a.ops != nil && a.config.OpsTLSCert != "" { // net/http sets a TLSConfig of its own
		return "https://" + a.OpsAddr()
	}
	return "http://" + a.OpsAddr()
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
