// Package outcome tells whether a run helped: the writes of each shard and chunk
// concerned in two windows of the same length, before the run began and after it
// ended, and what its migrations were estimated to copy and did copy.
//
// It promises that a figure which was not counted is missing and never zero; that
// every answer says how many seconds of its windows were counted; that it calls a
// difference one only when it is more than chance alone makes (see judge); and
// that a restart between the run and the end of its comparison loses nothing that
// was counted by then.
package outcome

import "time"

const (
	// Window is how long before a run and after it writes are compared.
	Window = 10 * time.Minute
	// grain is what windows are aligned to: rows that are changed in place are
	// counted by whole minutes.
	grain = time.Minute
	// leastCovered is how much of a window must have been counted.
	leastCovered = 2 * time.Minute
	// leastRows is from how many counted rows in each window shares are compared.
	leastRows = 100
	// settleWithin is how long after its end a window is waited for: counting
	// trails by a few seconds. What is missing then stays missing.
	settleWithin = 30 * time.Second
	// chunksListed bounds the chunks of a collection that are kept with a run.
	chunksListed = 64
)
