// Package actions is the one door through which shardboard changes a cluster.
//
// Admin says which commands there are: it is implemented by package cluster and
// promises that a command is sent once or not at all, and that what is not known
// of its effect is said to be unknown.
package actions
