// Package history keeps how placement looked and gives it back: every observed
// change of chunks, shards, databases, zones, balancer settings and sizes, and
// the changelog beyond the cap that the server keeps it under. It promises that
// the state of a past time is the table that was shown then, made from what was
// stored and nothing else, and that a time in which nobody looked is said to be
// one.
package history
