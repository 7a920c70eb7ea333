// Package survey measures rows and bytes of projects and Yorkie documents, and rows that nothing
// uses any more. Each figure is either counted row by row or estimated from a sample with a 95 %
// interval; what was not seen has an upper bound and is never zero. A survey reads within a budget
// of documents, slows down when the cluster does, and resumes after an interruption.
package survey
