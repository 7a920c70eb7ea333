// Package survey counts rows and bytes of projects and Yorkie documents, and rows that nothing uses
// any more, when somebody asks for it. What all projects hold is estimated all the time, by package
// holdings. A survey reads within a budget of documents, slows down when the cluster does, and
// resumes after an interruption.
package survey
