package store

import (
	"context"
	"log/slog"
)

// Database is a Store with what is shown about it: where it is, what is wrong with it, and its daily
// check.
type Database interface {
	Store

	// Place names the directory or database, for people and logs. It has no password.
	Place() string
	// Notes are log messages about what was changed or tolerated at opening.
	Notes() []string

	// Condition is the result of the last check whether this process may write. It costs nothing.
	Condition() Condition
	// Look checks now.
	Look() Condition
	// Watch checks every few seconds until ctx ends, and logs changes.
	Watch(ctx context.Context, log *slog.Logger) error

	// Trouble is what keeps the data from being used now; nil when nothing is known.
	Trouble() *Trouble
	// Unreadable returns how many unreadable rows were found in each table. Lists omit them.
	Unreadable() []UnreadableRows
	// Check verifies everything that is stored, as far as the store can; Checked reports whether
	// that was done since the start.
	Check(ctx context.Context) error
	Checked() bool
}
