// Package heat tells where writes go: which projects, Yorkie documents, chunks
// and shards take how many of them, over which time. It promises that every
// rate says how it was measured: counted whole, from slices of time with an
// interval, or at least so many; and that reading for it stays within a budget
// of documents returned, whatever the load is. New rows are counted all, by the
// time in their ids; of rows that are changed in place those of the hottest
// projects, by their date: see Method, and Cover for which collection is counted
// how, or why not. What was not measured is not zero.
package heat
