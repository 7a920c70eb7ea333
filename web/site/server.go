// Package web is what people and scripts see of shardboard: server-rendered
// pages, a JSON API and live updates over a WebSocket, all from one immutable
// routing table. It promises that no request waits for the cluster (locate
// alone asks it, with a deadline), that every route is in the one table of
// routes with its policy, and that nothing from the cluster or the address
// bar reaches a page, a header or a log line unescaped.
package site

import (
	"context"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"shardboard/internal/answer/auditing"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/locating"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/answer/mapped"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/trying"

	"github.com/go-chi/chi/v5"
	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/singleflight"

	"shardboard/internal/actions/engine"
	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/internal/heat"
	"shardboard/internal/heat/keyvis"
	"shardboard/internal/history"
	"shardboard/internal/memory"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/topology"
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
	Locator    locating.Locator
	Prover     locating.Prover        // nil: nothing can be proven or counted
	Duplicates data.DuplicateChecker  // nil: ids cannot be checked here
	Metadata   data.MetadataChecker   // nil: the metadata cannot be checked here
	Owners     placement.OwnersSource // nil: the server's record of owners cannot be read here
	Heat       *heat.Collector        // nil: writes are not counted
	Pictures   *keyvis.Recorder       // nil: and no picture of them is kept
	History    *history.Past          // nil: nothing is known of the past
	// StoredProjects are those that the recorded past is shown with before the cluster is reached; nil: none are known.
	StoredProjects *placement.Directory
	// Once: the cluster is read once and not watched, so its settings of an hour ago are not known.
	Once bool
	// Runs are ours of a time, for who moved a chunk; nil: none are known.
	Runs     func(from, to time.Time) []history.OurRun
	Surveys  answer.Surveys    // nil: sizes are not measured
	Rows     trying.RowSampler // nil: no rows are read for the lab
	Sizes    answer.ChunkSizes // nil: chunks are not measured
	Holdings answer.Holdings   // nil: what projects hold on shards is not estimated
	Profile  *profile.Profile
	Proposer answer.Proposer      // nil: no profile is proposed
	Kept     answer.KeptProfile   // nil: no profile is kept here
	Log      *slog.Logger         // nil discards
	Registry *prometheus.Registry // nil makes one of its own
	Gatherer prometheus.Gatherer  // what /metrics shows; nil: Registry
	Now      func() time.Time     // nil is time.Now
	Cost     func() int           // commands sent to the cluster during the last minute; nil: not known
	Hosts    []string             // Host values allowed besides loopback: "name" (any port) or "name:port"
	Origin   string               // of the address that browsers use; "": none is configured
	Target   string               // redacted cluster address for display
	Demo     bool
	Version  string

	Problems  problems.PastProblems // nil: problems of the past are not recorded
	Advice    *rules.Advisor        // nil: one that knows the table, the projects and what is counted
	Alerts    *alert.Engine         // nil: nobody is alerted
	PlanForms bool                  // plans are made here: advice has buttons for them
	Actions   engine.Service        // nil: nothing can be changed, and no route for it exists
	Trier     offering.Trier        // tries what is offered; nil: from the table alone
	Pins      answer.Pins           // nil: nothing is known of who pinned what
	Outcomes  changing.Outcomes     // nil: whether runs helped is not measured

	Audit    auditing.AuditTrail // who did what; nil: nothing is recorded
	Refusals *audit.Refusals     // counts refused requests, also those of package auth; nil makes one that nobody runs

	Trouble    func() *store.Trouble         // what is wrong with our own data now; nil: nothing is known of it
	Unreadable func() []store.UnreadableRows // rows that lists are without; nil: none is known
	Memory     *memory.Guard                 // of the process; nil: no limit

	Auth    guard.Authenticator // who is asking; nil: nobody ever is anybody
	TLS     bool                // browsers come over https, ours or a proxy's
	Exposed bool                // others than this machine can connect
	Leads   func() bool         // this process may write what is stored; nil: Data tells
	Leader  func() store.Leader // who leads those that share the store; nil: it is not shared
	Data    data.DataDirectory  // where everything is stored; nil: ours, and never lost

	Name  string         // of the cluster, on a server of several; "" on a server of one
	Title string         // what people call it
	Base  templates.Base // where its addresses begin
	// Sees tells whether somebody may see the cluster, and Nowhere answers those who may not.
	Sees    func(auth.Principal) bool
	Nowhere http.Handler
	Limits  *guard.Limits // of one person over all clusters; nil: of this one
	// ClusterPage tells whether a path below a cluster's base is that of a page.
	ClusterPage func(path string) bool
	Clusters    Clusters // those of a server of several, on the server's own site; else nil

	FrameAncestors []string // whose pages may show ours in a frame, as in a content security policy

	MaxSockets int  // live sockets of all browsers; 0 is 768
	HideBounds bool // chunk bounds are shown from support on
}

// Site is what all rooms share: it answers HTTP from the newest table and
// directory. Safe for concurrent use.
type Site struct {
	Deps    Deps
	Whole   http.Handler // with every check around the routes
	Metrics *Metrics
	Born    int64         // milliseconds; tells this process's tables from those of the one before
	OpenAPI func() []byte // made from the route table when it is first asked for
	gzips   sync.Pool     // of *gzip.Writer
	flights singleflight.Group
	answers keptAnswers
	bands   *mapped.MapBands
	kept    answer.Kept
	pasts   *answer.Pasts
	eras    logbook.BalancerEras
	begin   historyBegin

	flightRuns    logbook.FlightMemo
	Guard         *guard.Guard
	linesOfNobody *guard.LineBound // lines of the log for requests of nobody

	trials offering.Trials // of plans that pages offer
	tables *answer.HiddenTables

	ServeLive func(http.ResponseWriter, *http.Request) error
	Sockets   func() int // live sockets that are open

	Mux    *chi.Mux
	routes map[string]Route // by method and pattern
	topics map[string]Topic
}

// wireSite wires everything but the live updates, which come after it.
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
		deps.Problems.Advice = rules.NewAdvisor(rules.Sources{Tables: deps.Cluster.Watcher, Directories: deps.Cluster.Keeper, Profile: deps.Cluster.Profile, Heat: deps.Measured.Heat,
			Log: deps.Log, Now: deps.Now})
	}
	s := &Site{Deps: deps, pasts: answer.NewPasts(), tables: answer.NewHiddenTables(), Born: deps.Now().UnixMilli()}
	s.bands = mapped.NewMapBands(s.Born)
	s.Sockets = func() int { return 0 }
	s.Metrics = newMetrics(deps.Metrics.Registry, s)
	s.OpenAPI = sync.OnceValue(func() []byte { return OpenAPIDocument(table, deps.Version, deps.Place.Base.Root) })
	s.linesOfNobody = guard.NewLineBound()
	s.Guard = guard.New(guard.Options{Sees: deps.Access.Sees, Nowhere: deps.Access.Nowhere, Limits: deps.Access.Limits,
		Auth: deps.Access.Auth, Hosts: deps.Access.Hosts, Origin: deps.Access.Origin, Log: deps.Log,
		TLS: deps.Access.TLS, FrameAncestors: deps.Access.FrameAncestors, Exposed: deps.Access.Exposed, Demo: deps.Demo, Now: deps.Now,
		Refusals: deps.Audit.Refusals, Cluster: func() string { return deps.Cluster.Watcher.Table().ClusterID }, Site: s})
	s.routes = make(map[string]Route, len(table))
	for _, rt := range table {
		s.routes[rt.Method+" "+rt.Pattern] = rt
	}
	s.topics = Topics(table)
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
func (s *Site) Address(local string) string { return s.Deps.Place.Base.Of(local) }

// Asked is the address of a request as browsers have it, without its query.
func (s *Site) Asked(r *http.Request) string {
	return s.Deps.Place.Base.Root + s.Deps.Place.Base.Prefix + r.URL.EscapedPath()
}
