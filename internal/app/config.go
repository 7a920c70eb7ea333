package app

import (
	"fmt"
	"log/slog"
	"net"

	"shardboard/internal/cluster"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// Config is everything that New needs to know.
type Config struct {
	URI     cluster.URI
	Listen  string   // host:port for browsers; loopback only until there is sign-in
	Hosts   []string // Host values to accept besides loopback
	Demo    bool     // the cluster is simulated; pages say so
	Version string
	Log     *slog.Logger
	Watcher topology.Options // intervals; zero values mean the defaults
	Cluster cluster.Options  // dialer and monitor, for tests and in-process clusters
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

// checkListen refuses what would show the dashboard to the network: nobody has
// to sign in yet.
func checkListen(addr string) error {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return fault.Wrap(fault.Invalid, err, "The listen address %q is not host:port.", addr)
	}
	if port == "" {
		return fault.New(fault.Invalid, "The listen address %q has no port.", addr)
	}
	if host == "localhost" {
		return nil
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsLoopback() {
		return nil
	}
	return fault.New(fault.Invalid,
		"Refusing to listen on %q: shardboard has no sign-in yet, so it listens on loopback only (127.0.0.1, ::1 or localhost). Reach it over an SSH tunnel.", addr)
}

// listen opens the browsers' listener.
func listen(addr string) (net.Listener, error) {
	if err := checkListen(addr); err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fault.Wrap(fault.Unavailable, fmt.Errorf("listen on %s: %w", addr, err),
			"Cannot listen on %s: %v. Choose another address with --listen.", addr, err)
	}
	return l, nil
}
