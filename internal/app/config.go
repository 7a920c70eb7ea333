package app

import (
	"fmt"
	"log/slog"
	"net"

	"shardboard/internal/actions"
	"shardboard/internal/alert"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/memory"
	"shardboard/internal/metrics"
	"shardboard/internal/profile"
	"shardboard/internal/rules"
	"shardboard/internal/store/mongodb"
	"shardboard/internal/topology"
)

// Config is the configuration of New.
type Config struct {
	URI cluster.URI
	// Several clusters below /c/{name}/, instead of the one of URI; nil: that one.
	Clusters []ClusterConfig
	File     string                 // configuration file that they are from
	Reload   func() (Config, error) // reads it again
	Fixed    map[string]string      // what of the file a reload cannot change: text by key

	Listen  string   // host:port for browsers; beyond loopback only with sign-in and TLS
	Hosts   []string // Host headers to accept besides loopback and PublicURL's
	Demo    bool     // the cluster is simulated, and pages say so
	Version string
	Log     *slog.Logger
	Profile *profile.Profile // layout of the data; nil: that which was kept, or Yorkie's
	Watcher topology.Options // intervals; zero values are the defaults
	Cluster cluster.Options  // dialer and monitor, for tests and in-process clusters

	DataDir         string       // "" is a temporary directory
	Store           StoreAddress // a database instead of the directory; zero: the directory
	AuditKey        string       // key file that signs the audit record; "" is a key that lives as long as the process
	AuditKeyFrom    string       // file that has the key instead, for several replicas; the witness stays beside AuditKey
	SessionKey      string       // key file that seals sessions and approvals; "": beside AuditKey, none without that
	Auth            Auth         // sign-in; required
	PublicURL       string       // address as browsers use it, with its path if it has one; "" for loopback
	FrameAncestors  []string     // origins whose pages may show ours in a frame, or self; none: no page may
	TLSCert         string       // certificate and key files; "" without TLS here
	TLSKey          string
	TLSByProxy      bool                  // a reverse proxy terminates TLS
	MetricsProjects metrics.ProjectLabels // what tells projects apart in metrics; "" is by rank
	OpsListen       string                // host:port of health and metrics; "" is 127.0.0.1:8091 while others reach the pages
	OpsTLSCert      string                // certificate and key files of OpsListen; "" without TLS there
	OpsTLSKey       string
	OpsTokenFile    string // secret that metrics at OpsListen need; "" is none
	Actions         bool   // changes to the cluster are allowed

	MemoryLimit memory.Limit // of the process; zero: none

	MaxConnections int // open connections of browsers and scripts; 0 is 1,024, or fewer if the limit of open files is low

	Maintenance []actions.Maintenance // windows in which changes are allowed; none: always
	Approval    Approval              // which plans need the approval of a second person; zero: none

	Alerts *alert.Config // alert receivers; nil: none
	Bounds rules.Bounds  // of severity, where they are not the defaults

	HideBounds bool // only support and above see chunk bounds

	StoreOptions mongodb.Options // dialer and times, for tests; Log is set here

	HoldingsPerMinute int // documents a minute read to estimate what projects hold on shards; 0 = holdings.PerMinute, negative = off
}

// ReadURI takes the cluster's address from a flag, or from a file so that the password need not be
// on the command line.
func ReadURI(uri, file string) (cluster.URI, error) {
	switch {
	case uri != "" && file != "":
		return cluster.URI{}, fault.New(fault.Invalid, "Give the cluster's address by --uri or by --uri-file, not both.")
	case file != "":
		return cluster.ReadURI(file)
	case uri == "":
		return cluster.URI{}, fault.New(fault.Invalid, "No cluster given: use --uri mongodb://… (or SHARDBOARD_URI, or SHARDBOARD_URI_FILE).")
	}
	return cluster.ParseURI(uri)
}

// ReadProfile reads the layout of the data from a file; nil without one: that which was kept, or Yorkie's.
func ReadProfile(path string) (*profile.Profile, error) {
	if path == "" {
		return nil, nil
	}
	return profile.Read(path)
}

// ReadAlerts reads the alert receivers from a file; without a file there are none.
func ReadAlerts(path string) (*alert.Config, error) {
	if path == "" {
		return nil, nil
	}
	return alert.Read(path)
}

// AlertConfig says which receivers get which alerts.
type AlertConfig = *alert.Config

// ParseAlerts reads the text of an alerts file; name is its name in errors.
func ParseAlerts(name, text string) (AlertConfig, error) { return alert.Parse(name, []byte(text)) }

// ReadSeverityBounds parses from which figures on something is a problem or a warning.
func ReadSeverityBounds(texts []string) (rules.Bounds, error) { return rules.ParseBounds(texts) }

// ReadMaintenance parses the windows in which changes are allowed.
func ReadMaintenance(texts []string) ([]actions.Maintenance, error) {
	var out []actions.Maintenance
	for _, text := range texts {
		m, err := actions.ParseMaintenance(text)
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// maxHoldingsPerMinute is half of what all measurements may read together.
const maxHoldingsPerMinute = heat.PerSecond * 60 / 2

// HoldingsPerMinute checks the budget for estimating what projects hold on shards; 0 switches it off.
func HoldingsPerMinute(documents int) (int, error) {
	switch {
	case documents < 0 || documents > maxHoldingsPerMinute:
		return 0, fault.New(fault.Invalid,
			"--project-sizes-per-minute is a number of documents from 0 (off) to %d, not %d.", maxHoldingsPerMinute, documents)
	case documents == 0:
		return -1, nil
	}
	return documents, nil
}

// bind opens a listener.
func bind(addr, flag string) (net.Listener, error) {
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, fmt.Errorf("listen on %s: %w", addr, err),
			"Cannot listen on %s: %v. Choose another address with %s.", addr, err, flag)
	}
	return l, nil
}
