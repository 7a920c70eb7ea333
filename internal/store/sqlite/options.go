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

	// AlreadyOpen says that a store of this process has the same file open. Then it
	// was recognised as ours before, and is not opened and closed beside SQLite, which
	// would end the locks of that store.
	AlreadyOpen bool

	lockWait time.Duration // 0: lockWait
}
