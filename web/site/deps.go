package site

import (
	"log/slog"
	"net/http"
	"shardboard/internal/actions/engine"
	"shardboard/internal/alert"
	"shardboard/internal/answer"
	"shardboard/internal/answer/auditing"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/data"
	"shardboard/internal/answer/locating"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/problems"
	"shardboard/internal/answer/trying"
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
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Deps is what a site is made of: in a struct for each subject what answers about it, nil or zero where the server
// has none of it.
type Deps struct {
	Log     *slog.Logger     // nil discards
	Now     func() time.Time // nil is time.Now
	Version string
	Demo    bool

	Cluster  ClusterDeps
	Locate   LocateDeps
	Measured MeasuredDeps
	Past     PastDeps
	Problems ProblemDeps
	Changes  ChangeDeps
	Audit    AuditDeps
	Store    StoreDeps
	Access   AccessDeps
	Place    PlaceDeps
	Metrics  MetricDeps
}

// ClusterDeps is what is known of the cluster itself.
type ClusterDeps struct {
	Watcher interface {
		Table() *topology.Table
		Subscribe() (*topology.Table, <-chan struct{}, func())
		Viewed(topology.Namespace)
	}
	Keeper interface {
		Directory() *placement.Directory
		Subscribe() (*placement.Directory, <-chan struct{}, func())
	}
	Profile  *profile.Profile
	Proposer answer.Proposer    // nil: no profile is proposed
	Kept     answer.KeptProfile // nil: no profile is kept here
	// Once: the cluster is read once and not watched, so its settings of an hour ago are not known.
	Once       bool
	Target     string // redacted cluster address for display
	HideBounds bool   // chunk bounds are shown from support on
}

// LocateDeps finds things, and proves and checks where they are.
type LocateDeps struct {
	Locator    locating.Locator
	Prover     locating.Prover        // nil: nothing can be proven or counted
	Duplicates data.DuplicateChecker  // nil: ids cannot be checked here
	Metadata   data.MetadataChecker   // nil: the metadata cannot be checked here
	Owners     placement.OwnersSource // nil: the server's record of owners cannot be read here
}

// MeasuredDeps is what is counted and estimated of the data.
type MeasuredDeps struct {
	Heat     *heat.Collector   // nil: writes are not counted
	Pictures *keyvis.Recorder  // nil: and no picture of them is kept
	Surveys  answer.Surveys    // nil: sizes are not measured
	Rows     trying.RowSampler // nil: no rows are read for the lab
	Sizes    answer.ChunkSizes // nil: chunks are not measured
	Holdings answer.Holdings   // nil: what projects hold on shards is not estimated
}

// PastDeps is the cluster's history.
type PastDeps struct {
	History *history.Past // nil: nothing is known of the past
	// StoredProjects are those that the recorded past is shown with before the cluster is reached; nil: none are known.
	StoredProjects *placement.Directory
	// Runs are ours of a time, for who moved a chunk; nil: none are known.
	Runs func(from, to time.Time) []history.OurRun
}

// ProblemDeps finds problems, keeps those of the past, and alerts.
type ProblemDeps struct {
	Past   problems.PastProblems // nil: problems of the past are not recorded
	Advice *rules.Advisor        // nil: one that knows the table, the projects and what is counted
	Alerts *alert.Engine         // nil: nobody is alerted
}

// ChangeDeps changes the cluster.
type ChangeDeps struct {
	Actions   engine.Service    // nil: nothing can be changed, and no route for it exists
	PlanForms bool              // plans are made here: advice has buttons for them
	Trier     offering.Trier    // tries what is offered; nil: from the table alone
	Pins      answer.Pins       // nil: nothing is known of who pinned what
	Outcomes  changing.Outcomes // nil: whether runs helped is not measured
}

// AuditDeps records who did what.
type AuditDeps struct {
	Trail    auditing.AuditTrail // nil: nothing is recorded
	Refusals *audit.Refusals     // counts refused requests, also those of package auth; nil makes one that nobody runs
}

// StoreDeps is where our own data is stored, and how it is with it.
type StoreDeps struct {
	Data       data.DataDirectory            // nil: ours, and never lost
	Trouble    func() *store.Trouble         // what is wrong with it now; nil: nothing is known of it
	Unreadable func() []store.UnreadableRows // rows that lists are without; nil: none is known
	Leads      func() bool                   // this process may write what is stored; nil: Data tells
	Leader     func() store.Leader           // who leads those that share the store; nil: it is not shared
	Memory     *memory.Guard                 // of the process; nil: no limit
}

// AccessDeps is who may ask, from where, and how much.
type AccessDeps struct {
	Auth    guard.Authenticator // who is asking; nil: nobody ever is anybody
	TLS     bool                // browsers come over https, ours or a proxy's
	Exposed bool                // others than this machine can connect
	Hosts   []string            // Host values allowed besides loopback: "name" (any port) or "name:port"
	Origin  string              // of the address that browsers use; "": none is configured
	// Sees tells whether somebody may see the cluster, and Nowhere answers those who may not.
	Sees           func(auth.Principal) bool
	Nowhere        http.Handler
	Limits         *guard.Limits // of one person over all clusters; nil: of this one
	FrameAncestors []string      // whose pages may show ours in a frame, as in a content security policy
	MaxSockets     int           // live sockets of all browsers; 0 is 768
}

// PlaceDeps is where a site is among those of a server.
type PlaceDeps struct {
	Name  string         // of the cluster, on a server of several; "" on a server of one
	Title string         // what people call it
	Base  templates.Base // where its addresses begin
	// ClusterPage tells whether a path below a cluster's base is that of a page.
	ClusterPage func(path string) bool
	Clusters    Clusters // those of a server of several, on the server's own site; else nil
}

// MetricDeps is what /metrics shows.
type MetricDeps struct {
	Registry *prometheus.Registry // nil makes one of its own
	Gatherer prometheus.Gatherer  // nil: Registry
	Cost     func() int           // commands sent to the cluster during the last minute; nil: not known
}
