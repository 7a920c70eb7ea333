package sqlite

import (
	"log/slog"
	"time"
)

// lockWait is how long a call waits for a lock that another program holds.
const lockWait = 5 * time.Second

// Options are for OpenWith.
type Options struct {
	Log *slog.Logger // where trouble with the file is told; nil discards
	// Before is called before each statement; its error is the statement's. It is
	// for tests of how a broken disk is met.
	Before func(statement string) error

	lockWait time.Duration // 0: lockWait
}
