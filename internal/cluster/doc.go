// Package cluster reads and changes a sharded MongoDB cluster through a mongos with the
// official driver. It is the only package that uses the driver's client and knows the
// server's commands and their differences between versions. Results are types of
// package topology; errors are classified by package fault.
//
// Nothing that it returns or logs contains credentials. Every read has a deadline,
// which the driver sends as maxTimeMS, so that the server stops too.
package cluster
