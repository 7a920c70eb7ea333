// Package web is what people and scripts see of shardboard: server-rendered
// pages, a JSON API and live updates over a WebSocket, all from one immutable
// routing table. It promises that no request waits for the cluster (locate
// alone asks it, with a deadline), that every route is in the one table of
// routes.go with its policy, and that nothing from the cluster or the address
// bar reaches a page, a header or a log line unescaped.
package web

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"shardboard/internal/actions/engine"
	"shardboard/internal/alert"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/history"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/topology"
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

// Deps is what the web needs from the rest of the program.
type Deps struct {
	Watcher interface {
		Table() *topology.Table
		Subscribe() (*topology.Table, <-chan struct{}, func())
		Viewed(topology.Namespace)
	}
	Keeper interface {
		Directory() *placement.Directory
		Subscribe() (*placement.Directory, <-chan struct{}, func())
	}
	Locator interface {
		Ask(context.Context, placement.Query) (placement.Answer, error)
	}
	Prover     Prover           // nil: nothing can be proven or counted
	Duplicates DuplicateChecker // nil: ids cannot be checked here
	Heat       *heat.Collector  // nil: writes are not counted
	Pictures   *keyvis.Recorder // nil: and no picture of them is kept
	History    *history.Past    // nil: nothing is known of the past
	// Runs are ours of a time, for who moved a chunk; nil: none are known.
	Runs     func(from, to time.Time) []history.OurRun
	Surveys  Surveys    // nil: sizes are not measured
	Sizes    ChunkSizes // nil: chunks are not measured
	Profile  *profile.Profile
	Log      *slog.Logger         // nil discards
	Registry *prometheus.Registry // nil makes one of its own
	Now      func() time.Time     // nil is time.Now
	Cost     func() int           // commands sent to the cluster during the last minute; nil: not known
	Hosts    []string             // Host values allowed besides loopback: "name" (any port) or "name:port"
	Target   string               // redacted cluster address for display
	Demo     bool
	Version  string

	Advice    *rules.Advisor // nil: one that knows the table, the projects and what is counted
	Alerts    *alert.Engine  // nil: nobody is alerted
	PlanForms bool           // plans are made here: advice has buttons for them
	Actions   engine.Service // nil: nothing can be changed, and no route for it exists
	Trier     Trier          // tries what is offered; nil: from the table alone
	Pins      Pins           // nil: nothing is known of who pinned what
	Outcomes  Outcomes       // nil: whether runs helped is not measured

	Audit    AuditTrail      // who did what; nil: nothing is recorded
	Refusals *audit.Refusals // counts refused requests, also those of package auth; nil makes one that nobody runs

	Trouble    func() *store.Trouble         // what is wrong with our own data now; nil: nothing is known of it
	Unreadable func() []store.UnreadableRows // rows that lists are without; nil: none is known

	Auth    Authenticator // who is asking; nil: nobody ever is anybody
	TLS     bool          // browsers come over https, ours or a proxy's
	Exposed bool          // others than this machine can connect
	Data    DataDirectory // where everything is stored; nil: ours, and never lost

	MaxSockets int  // live sockets of all browsers; 0 is 768
	HideBounds bool // chunk bounds are shown from support on
}

// Server is the whole site: pages, API and live updates. Safe for concurrent use.
type Server struct {
	*Site
	hub *hub
}

// Site is what all rooms share: it answers HTTP from the newest table and
// directory. Safe for concurrent use.
type Site struct {
	deps    Deps
	whole   http.Handler // with every check around the routes
	metrics *metrics
	born    int64     // milliseconds; tells this process's tables from those of the one before
	openAPI []byte    // made once from the route table
	gzips   sync.Pool // of *gzip.Writer
	flights singleflight.Group
	pasts   *pasts
	settled settledEras

	flightRuns flightMemo
	limits     *limits
	nobodys    *lineBound // lines of the log for requests of nobody

	changing map[string]Route // of routes that change something, by method and pattern

	trials trials // of plans that pages offer
	tables *hiddenTables

	serveLive func(http.ResponseWriter, *http.Request) error
	sockets   func() int // live sockets that are open

	mux   *chi.Mux
	pages map[string]bool // patterns that have a page to GET
}

// New wires a server and starts nothing.
func New(deps Deps) *Server {
	s := &Server{Site: wireSite(deps, served(deps))}
	s.hub = newHub(s.view, s.hide, s.hiddenFromAny(), func(topic string) (fragmentFunc, bool) { return s.Site.fragments(topic) }, s.metrics, s.deps.Log)
	if deps.MaxSockets > 0 {
		s.hub.maxSockets = deps.MaxSockets
	}
	s.sockets = s.hub.sockets
	s.serveLive = func(w http.ResponseWriter, r *http.Request) error { return s.hub.serve(s.Site, w, r) }
	return s
}

// wireSite wires everything but the live updates, which come after it.
func wireSite(deps Deps, table []Route) *Site {
	if deps.Log == nil {
		deps.Log = slog.New(slog.DiscardHandler)
	}
	if deps.Registry == nil {
		deps.Registry = prometheus.NewRegistry()
	}
	if deps.Now == nil {
		deps.Now = time.Now
	}
	if deps.Auth == nil {
		deps.Auth = nobody{}
	}
	if deps.Refusals == nil {
		o := audit.RefusalOptions{Log: deps.Log, Now: deps.Now}
		if deps.Audit != nil && (deps.Data == nil || deps.Data.Condition().Hold == store.Owned) {
			o.Record = deps.Audit.Append
		}
		deps.Refusals = audit.NewRefusals(o)
	}
	if deps.Advice == nil {
		deps.Advice = rules.NewAdvisor(rules.Sources{Tables: deps.Watcher, Directories: deps.Keeper, Profile: deps.Profile, Heat: deps.Heat, Log: deps.Log, Now: deps.Now})
	}
	s := &Site{deps: deps, pasts: newPasts(), tables: newHiddenTables(), born: deps.Now().UnixMilli()}
	s.sockets = func() int { return 0 }
	s.metrics = newMetrics(deps.Registry, s)
	s.openAPI = openAPIDocument(table, deps.Version)
	s.limits, s.nobodys = newLimits(deps.Now), newLineBound()
	s.changing = changingRoutes(table)
	s.pages = pagePatterns(table)
	s.mux = s.router(table)
	s.whole = s.outside(s.mux)
	return s
}

// Handler is the whole site, with every check around it.
func (s *Site) Handler() http.Handler { return s.whole }

// Run feeds the open sockets until ctx ends or Close is called, then closes
// them and waits for them. http.Server.Shutdown knows nothing of hijacked
// sockets: end Run first.
func (s *Server) Run(ctx context.Context) error {
	_, tables, cancelTables := s.deps.Watcher.Subscribe()
	defer cancelTables()
	_, dirs, cancelDirs := s.deps.Keeper.Subscribe()
	defer cancelDirs()
	var runs <-chan struct{}
	if s.deps.Actions != nil {
		told, cancelRuns := s.deps.Actions.Subscribe()
		defer cancelRuns()
		runs = told
	}
	var pins <-chan struct{}
	if s.deps.Pins != nil {
		told, cancelPins := s.deps.Pins.Subscribe()
		defer cancelPins()
		pins = told
	}
	var outcomes <-chan struct{}
	if s.deps.Outcomes != nil {
		told, cancelOutcomes := s.deps.Outcomes.Subscribe()
		defer cancelOutcomes()
		outcomes = told
	}
	problems, cancelProblems := s.deps.Advice.Subscribe()
	defer cancelProblems()
	return s.hub.run(ctx, tables, dirs, runs, pins, outcomes, problems)
}

// Close ends Run and waits until the last socket is gone. New sockets are
// refused from then on; other requests still work.
func (s *Server) Close() { s.hub.close() }
