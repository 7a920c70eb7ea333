// Package survey measures how much of a cluster belongs to whom: rows and bytes
// of projects and Yorkie documents, and what nothing uses any more. It promises
// that a figure says how it was had: counted row by row, or estimated from a
// sample with an interval that holds the truth in 95 of 100 cases; what was
// not seen has an upper bound and is never zero. It reads within a budget of
// documents, slower when the cluster gets slower, and a survey that was
// interrupted goes on where it was.
package survey
