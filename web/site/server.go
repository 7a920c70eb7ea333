// Package site is what all rooms of the web share. Together they are what people
// and scripts see of shardboard: server-rendered pages, a JSON API and live
// updates over a WebSocket, all from one immutable routing table. It promises
// that no request waits for the cluster (locate alone asks it, with a deadline),
// that every route is in the one table of routes with its policy, and that
// nothing from the cluster or the address bar reaches a page, a header or a log
// line unescaped.
package site

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/web/guard"
	"shardboard/web/templates"
)

// Limits for the http.Server that serves a Handler. A page is small and made
// from memory, so they can be tight; a hijacked socket has its own deadlines.
const (
	ReadHeaderTimeout = 5 * time.Second
	ReadTimeout       = 15 * time.Second
	WriteTimeout      = 60 * time.Second
	IdleTimeout       = 2 * time.Minute  // of people who are signed in, and of proxies
	StrangerIdle      = 10 * time.Second // before sign-in: enough to load a page, and to start with the next
	MaxHeaderBytes    = 32 << 10
)

// Site is what all rooms share: it answers HTTP from the newest table and
// directory. Safe for concurrent use.
type Site struct {
	Deps Deps
	*Views
	*Addresses
	Whole         http.Handler // with every check around the routes
	Metrics       *Metrics
	Born          int64         // milliseconds; tells this process's tables from those of the one before
	OpenAPI       func() []byte // made from the route table when it is first asked for
	gzips         sync.Pool     // of *gzip.Writer
	flights       singleflight.Group
	answers       keptAnswers
	Guard         *guard.Guard
	linesOfNobody *guard.LineBound // lines of the log for requests of nobody

	ServeLive func(http.ResponseWriter, *http.Request) error
	Sockets   func() int // live sockets that are open
}

// WireSite wires everything but the live updates, which come after it.
func WireSite(deps Deps, table []Route) *Site {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if _, already := deps.Log.Handler().(namingHandler); !already {
		deps.Log = slog.New(namingHandler{deps.Log.Handler()})
	}
	if deps.Metrics.Registry == nil {
		deps.Metrics.Registry = prometheus.NewRegistry()
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Access.Auth == nil {
		deps.Access.Auth = guard.Nobody{}
	}
	if deps.Audit.Refusals == nil {
		o := audit.RefusalOptions{Log: deps.Log, Now: deps.Now}
		if deps.Audit.Trail != nil && (deps.Store.Data == nil || deps.Store.Data.Condition().Hold == store.Owned) {
			o.Record = deps.Audit.Trail.Append
		}
		deps.Audit.Refusals = audit.NewRefusals(o)
	}
	if deps.Problems.Advice == nil {
		c := deps.Cluster
		deps.Problems.Advice = rules.NewAdvisor(rules.Sources{Tables: c.Watcher, Directories: c.Keeper, Profile: c.Profile,
			Heat: deps.Measured.Heat, Log: deps.Log, Now: deps.Now})
	}
	s := &Site{Deps: deps, Born: deps.Now().UnixMilli()}
	s.Views, s.Addresses = newViews(&s.Deps, s.Born), newAddresses(deps.Place, table)
	s.Sockets = func() int { return 0 }
	s.Metrics = newMetrics(deps.Metrics.Registry, s)
	s.OpenAPI = sync.OnceValue(func() []byte { return OpenAPIDocument(table, deps.Version, deps.Place.Base.Root) })
	s.linesOfNobody = guard.NewLineBound()
	s.Guard = guard.New(guard.Options{Sees: deps.Access.Sees, Nowhere: deps.Access.Nowhere, Limits: deps.Access.Limits,
		Auth: deps.Access.Auth, Hosts: deps.Access.Hosts, Origin: deps.Access.Origin, Log: deps.Log,
		TLS: deps.Access.TLS, FrameAncestors: deps.Access.FrameAncestors, Exposed: deps.Access.Exposed, Demo: deps.Demo, Now: deps.Now,
		Refusals: deps.Audit.Refusals, Cluster: func() string { return deps.Cluster.Watcher.Table().ClusterID }, Site: s})
	s.Mux = s.Router(table)
	s.Whole = s.Outside(s.Mux)
	return s
}

// Outside puts around the router what needs no route. Headers come first so that
// refusals carry them; the log sees every answer.
func (s *Site) Outside(router http.Handler) http.Handler {
	return named(s.Guard.Secured(s.logged(s.Recovered(s.Guard.Outside(router)))))
}

// Handler is the whole site, with every check around it. It takes addresses without the site's base.
func (s *Site) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.Whole.ServeHTTP(w, r.WithContext(s.drawing(r.Context())))
	})
}

// drawing is the context of what is drawn for this site: its base and its profile's words.
func (s *Site) drawing(ctx context.Context) context.Context {
	return templates.WithWords(templates.WithBase(ctx, s.Deps.Place.Base), s.Deps.Cluster.Profile.Words)
}

// Address is the address on the server of one of the site's own.
func (s *Addresses) Address(local string) string { return s.place.Base.Of(local) }

// Asked is the address of a request as browsers have it, without its query.
func (s *Addresses) Asked(r *http.Request) string {
	return s.place.Base.Root + s.place.Base.Prefix + r.URL.EscapedPath()
}
