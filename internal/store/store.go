// Package store defines what shardboard stores: accounts, what was done, and past placement. It has
// only types and interfaces; store/sqlite implements them in one file, store/mongodb in a database
// that several processes share. Both pass the suite of store/storetest.
//
// A method that returned without an error has its effect on disk, whatever happens to the process
// or the machine afterwards. A method that failed had none, unless the error is
// fault.UnknownOutcome. Rows about a cluster carry its id (config.version.clusterId), so that one
// store can serve several. All times are UTC, to the millisecond. All methods are safe for
// concurrent use and obey the context's deadline. Errors are classified with fault: NotFound,
// Conflict (it exists already, or somebody else changed it), Unavailable (read only, disk full,
// closed, the data directory was moved or deleted).
package store

// Store is everything that is stored.
type Store interface {
	Users
	Sessions
	Seals
	Tokens
	Settings
	Audit
	Journal
	RunOutcomes
	History
	Heat
	Surveys
	Holdings
	Notices
	Problems

	// Owner is false when another process owned the data at opening: every method that writes then
	// fails with ErrReadOnly or ErrOwnerGone. All processes own a store that they share.
	Owner() bool
	Leadership
	Openings
	// Writable checks the data directory and is nil while this process may write. Otherwise it is
	// the error that methods that write would return.
	Writable() error
	// Close closes the store and releases the ownership.
	Close() error
}
