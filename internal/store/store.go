// Package store says what shardboard remembers: who may come in, what was
// done, and how placement looked before. It holds types and interfaces only;
// store/sqlite keeps them in one file, and every implementation passes the
// suite of store/storetest.
//
// What it promises: a method that returned without an error has its effect on
// disk, whatever happens to the process or the machine afterwards; a method
// that failed had none, unless the error is fault.UnknownOutcome. Rows about a
// cluster carry its id (config.version.clusterId), so that one store can serve
// several. All times are UTC, to the millisecond. All methods are safe for
// concurrent use and obey the context's deadline. Errors are classified with
// fault: NotFound, Conflict (it is so already, or somebody else changed it),
// Unavailable (read only, disk full, closed, the data directory was moved or
// deleted).
package store

// Store is everything that is remembered.
type Store interface {
	Users
	Sessions
	Tokens
	Settings
	Audit
	Journal
	RunOutcomes
	History
	Heat
	Surveys
	Notices

	// Owner is false when another process owned the data when this one opened it:
	// then every method that writes fails with ErrReadOnly or ErrOwnerGone.
	Owner() bool
	// Writable looks at the data directory and is nil while this process may write.
	// Otherwise it is the error that every method that writes would give.
	Writable() error
	// Close ends all use and gives up the ownership.
	Close() error
}
