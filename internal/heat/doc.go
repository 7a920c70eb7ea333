// Package heat tells where writes go: which projects, Yorkie documents, chunks
// and shards take how many of them, over which time. It promises that every
// rate says how it was measured: counted whole, from slices of time with an
// interval, or at least so many; and that reading for it stays within a budget
// of documents returned, whatever the load is. What was not measured is not
// zero.
package heat
