// Package outcome decides whether a run helped: it compares the writes of the shards and chunks
// concerned in two windows of equal length, before the run began and after it ended, and the
// estimated with the actual cost of its migrations.
//
// A figure that was not counted is missing, never zero. Every outcome says how many seconds of its
// windows were counted. A difference counts only when chance does not explain it (see judge). A
// restart between the run and the end of its comparison loses nothing that was counted before.
package outcome

import "time"

const (
	// Window is the length of the time before and after a run that is compared.
	Window = 10 * time.Minute
	// windowAlignment exists because changed rows are counted by whole minutes.
	windowAlignment = time.Minute
	// leastCovered is how much of a window must have been counted.
	leastCovered = 2 * time.Minute
	// leastSoFar is how much of the second window a first answer needs, and the whole one where an undo ended it early.
	leastSoFar = time.Minute
	// leastRows is how many rows of each window a comparison of shares needs.
	leastRows = 100
	// settleWithin is how long after its end a window may still get counts, which arrive a few
	// seconds late.
	settleWithin = 30 * time.Second
	// chunksListed bounds the chunks stored for each collection of a run.
	chunksListed = 64
)
