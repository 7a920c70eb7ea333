package app

import (
	"fmt"
	"log/slog"
	"net/netip"
	"syscall"

	"shardboard/internal/connlimit"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// Limits of open connections.
const (
	defaultConnections = 1024
	minConnections     = 64 // fewer do not serve ten browsers
	maxConnections     = 1_000_000
	sourceShare        = 4   // one address may have this fraction of all
	opsConnections     = 128 // for health and metrics, which have few clients
	// reservedFiles are the open files reserved for everything else: the operations listener, the
	// driver's connections to the cluster (100 per mongos), the data directory, alerts and the
	// program's own files.
	reservedFiles = 384
)

// maxSockets limits WebSockets so that a quarter of all connections is left for pages and scripts.
func maxSockets(connections int) int { return connections * 3 / 4 }

// connectionBounds are the limits of the pages' listener.
func (c Config) connectionBounds() (connlimit.Options, error) {
	proxies, err := c.proxies()
	if err != nil {
		return connlimit.Options{}, err
	}
	if c.TLSByProxy { // a proxy on this machine need not be configured
		proxies = append(proxies, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	}
	most, err := fitConnections(c.MaxConnections, openFiles(), c.Log)
	return connlimit.Options{Name: "pages", Max: most, PerSource: most / sourceShare, Proxies: proxies,
		StrangerIdle: site.StrangerIdle, Log: c.Log, Advice: "; --max-connections raises the limit"}, err
}

// CheckMaxConnections rejects numbers out of range.
func CheckMaxConnections(n int) error {
	if n < minConnections || n > maxConnections {
		return fault.New(fault.Invalid, "--max-connections %d is not between %d and %d.", n, minConnections, maxConnections)
	}
	return nil
}

// CheckOpenFiles checks whether this process may have the open files that so many connections need.
func CheckOpenFiles(connections int) error {
	_, err := fitConnections(connections, openFiles(), slog.New(slog.DiscardHandler))
	return err
}

// fitConnections checks the wanted number against the limit of open files, because each connection
// is one: without a free file, a new connection would wait until another one closes. A configured
// number that does not fit is an error; the default is lowered to fit. files is 0 if the limit is
// unknown.
func fitConnections(wanted int, files uint64, log *slog.Logger) (int, error) {
	if wanted != 0 {
		if err := CheckMaxConnections(wanted); err != nil {
			return 0, err
		}
	}
	switch {
	case wanted != 0 && files != 0 && uint64(wanted+reservedFiles) > files:
		return 0, fault.New(
			fault.Invalid,
			"--max-connections %d needs %d open files (%d of them for everything else), and this process may have %d. Raise the limit "+
				"(ulimit -n %[2]d, or LimitNOFILE=%[2]d in a systemd unit), or ask for at most %[5]d connections.",
			wanted,
			wanted+reservedFiles,
			reservedFiles,
			files,
			max(int(files)-reservedFiles, 0),
		)
	case wanted != 0:
		return wanted, nil
	case files == 0 || files >= defaultConnections+reservedFiles:
		return defaultConnections, nil
	case files < minConnections+reservedFiles:
		return 0, fault.New(
			fault.Invalid,
			"This process may have %d open files, and shardboard needs at least %d. Raise the limit: ulimit -n %[3]d, or LimitNOFILE=%[3]d "+
				"in a systemd unit.",
			files,
			minConnections+reservedFiles,
			defaultConnections+reservedFiles,
		)
	}
	most := int(files) - reservedFiles
	log.Warn(fmt.Sprintf("at most %d connections, because this process may have only %d open files; the usual %d need %d (ulimit -n)",
		most, files, defaultConnections, defaultConnections+reservedFiles))
	return most, nil
}

// openFiles is this process's limit of open files; 0 if unknown. The Go runtime has already raised
// the soft limit to the hard one.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
}
