package sqlite

import (
	"log/slog"
	"time"
)

// lockWait is how long a call waits for a lock that another program holds.
const lockWait = 5 * time.Second

// Options are the options of OpenWith.
type Options struct {
	Log *slog.Logger // problems of the file; nil discards
	// Before is called before each statement; its error becomes the statement's. Tests use it to
	// simulate a broken disk.
	Before func(statement string) error

	// AlreadyOpen means that another store of this process has the file open. Its header was
	// checked then and is not read again, because closing the file beside SQLite would end that
	// store's locks.
	AlreadyOpen bool

	lockWait time.Duration // 0: the constant lockWait
}
