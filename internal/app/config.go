package app

import (
	"fmt"
	"log/slog"
	"net"

	"shardboard/internal/actions"
	"shardboard/internal/alert"
	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// Config is everything that New needs to know.
type Config struct {
	URI     cluster.URI
	Listen  string   // host:port for browsers; off loopback only with sign-in and TLS
	Hosts   []string // Host values to accept besides loopback and that of PublicURL
	Demo    bool     // the cluster is simulated; pages say so
	Version string
	Log     *slog.Logger
	Profile *profile.Profile // what projects and documents are; nil: Yorkie's
	Watcher topology.Options // intervals; zero values mean the defaults
	Cluster cluster.Options  // dialer and monitor, for tests and in-process clusters

	DataDir    string // what must be remembered; "" is a temporary directory
	AuditKey   string // file of the key that signs the audit record; "" is one that lives as long as the process
	Auth       Auth   // how people come in; required
	PublicURL  string // scheme and host as browsers use them; "" while that is loopback
	TLSCert    string // certificate and key files; "" is no TLS of our own
	TLSKey     string
	TLSByProxy bool   // a proxy in front does TLS
	OpsListen  string // host:port of health and metrics when others can ask, directly or through a proxy; "" is 127.0.0.1:8091
	Actions    bool   // the cluster may be changed

	MaxConnections int // open connections of browsers and scripts; 0 is 1,024, or fewer if the limit of open files is low

	Maintenance []actions.Maintenance // when it is wanted to be; none: always

	Alerts *alert.Config // who is told of trouble; nil: nobody

	HideBounds bool // chunk bounds are shown from support on
}

// ReadURI takes the cluster's address from a flag or, so that no password has
// to be on a command line, from a file.
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

// ReadProfile takes the scheme of the data from a file; no file is Yorkie's.
func ReadProfile(path string) (*profile.Profile, error) {
	if path == "" {
		return profile.Yorkie(), nil
	}
	return profile.Read(path)
}

// ReadAlerts takes who is told of trouble from a file; no file is nobody.
func ReadAlerts(path string) (*alert.Config, error) {
	if path == "" {
		return nil, nil
	}
	return alert.Read(path)
}

// ReadMaintenance reads the windows in which changes are wanted.
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

// profile is the configured scheme of the data.
func (c Config) profile() *profile.Profile {
	if c.Profile == nil {
		return profile.Yorkie()
	}
	return c.Profile
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
