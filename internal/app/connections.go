package app

import (
	"fmt"
	"log/slog"
	"net/netip"
	"syscall"

	"shardboard/internal/connlimit"
	"shardboard/internal/fault"
	"shardboard/web"
)

// Bounds of open connections.
const (
	defaultConnections = 1024
	leastConnections   = 64 // fewer would not serve ten browsers
	mostConnections    = 1_000_000
	sourceShare        = 4   // one address may have one in so many
	opsConnections     = 128 // of health and metrics, which few ask for
	// reservedFiles are the open files that are left to everything else: the
	// operations listener, the driver's connections to the cluster (100 a
	// mongos), the data directory, alerts and the program's own.
	reservedFiles = 384
)

// maxSockets leaves a quarter of all connections to pages and scripts.
func maxSockets(connections int) int { return connections * 3 / 4 }

// connectionBounds are those of the page's listener.
func (c Config) connectionBounds() (connlimit.Options, error) {
	proxies, err := c.proxies()
	if err != nil {
		return connlimit.Options{}, err
	}
	if c.TLSByProxy { // one on this machine need not be named to be there
		proxies = append(proxies, netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128"))
	}
	most, err := fitConnections(c.MaxConnections, openFiles(), c.Log)
	return connlimit.Options{Name: "pages", Max: most, PerSource: most / sourceShare, Proxies: proxies,
		StrangerIdle: web.StrangerIdle, Log: c.Log, Advice: "; --max-connections raises the limit"}, err
}

// CheckMaxConnections refuses a number that cannot be meant.
func CheckMaxConnections(n int) error {
	if n < leastConnections || n > mostConnections {
		return fault.New(fault.Invalid, "--max-connections %d is not between %d and %d.", n, leastConnections, mostConnections)
	}
	return nil
}

// fitConnections compares the wanted number with how many files this process
// may have open, because each connection is one: without a file for it, a new
// connection would wait until another one closes. A number that somebody chose
// is refused when it does not fit, the default is lowered. 0 files: not known.
func fitConnections(wanted int, files uint64, log *slog.Logger) (int, error) {
	if wanted != 0 {
		if err := CheckMaxConnections(wanted); err != nil {
			return 0, err
		}
	}
	switch {
	case wanted != 0 && files != 0 && uint64(wanted+reservedFiles) > files:
		return 0, fault.New(fault.Invalid, "--max-connections %d needs %d open files (%d of them for everything else), and this process may have %d. Raise the limit (ulimit -n %[2]d, or LimitNOFILE=%[2]d in a systemd unit), or ask for at most %[5]d connections.",
			wanted, wanted+reservedFiles, reservedFiles, files, max(int(files)-reservedFiles, 0))
	case wanted != 0:
		return wanted, nil
	case files == 0 || files >= defaultConnections+reservedFiles:
		return defaultConnections, nil
	case files < leastConnections+reservedFiles:
		return 0, fault.New(fault.Invalid, "This process may have %d open files, and shardboard needs at least %d. Raise the limit: ulimit -n %[3]d, or LimitNOFILE=%[3]d in a systemd unit.",
			files, leastConnections+reservedFiles, defaultConnections+reservedFiles)
	}
	most := int(files) - reservedFiles
	log.Warn(fmt.Sprintf("at most %d connections, because this process may have only %d open files; the usual %d need %d (ulimit -n)",
		most, files, defaultConnections, defaultConnections+reservedFiles))
	return most, nil
}

// openFiles is how many files this process may have open; 0 if it is not known.
// Go has raised the soft limit to the hard one by now.
func openFiles() uint64 {
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_NOFILE, &limit) != nil {
		return 0
	}
	return limit.Cur
}
