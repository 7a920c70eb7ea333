// Package history records placement and returns past states: every observed change of chunks,
// shards, databases, zones, balancer settings and sizes, and the changelog beyond the server's own
// cap. The state of a past time is the table that was shown then, made only from what was stored.
// Time spans without recording are reported as gaps.
package history
