// Package cluster reads a sharded MongoDB cluster through a mongos with the
// official driver, and is the only place that knows the driver, the server's
// commands and how they differ between versions. What it returns is in the
// words and types of topology; every error is classified by fault.
//
// It promises that nothing it shows, logs or returns contains credentials, and
// that no read is without a deadline: the driver turns the context's into
// maxTimeMS, so the server gives up too.
package cluster
