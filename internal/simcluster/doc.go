// Package simcluster is a sharded MongoDB cluster in one process: a mongos, a
// config server and any number of shards that speak the MongoDB wire protocol to
// every driver, over an in-process pipe or over TCP.
//
// It is not a table of canned answers. Documents live on shards and are routed by
// their shard key through a chunk table; config.* holds the documents that a real
// cluster would show; splits, moves, zones and the balancer change both. What it
// answers follows MongoDB 5.0.7 as observed on a real cluster; what differs in
// other versions is decided by Options.ServerVersion.
//
// The rooms: wire cuts the byte stream into messages, engine stores and queries
// documents, catalog holds the routing table and the sharding commands, balancer
// moves chunks, workload fills the cluster and keeps it alive. This package is the
// mongos that ties them together: connections, sessions, cursors, and the commands
// that read and write documents through the routing table.
//
// Nothing of the dashboard is imported here, so that tests which compare the two
// compare two independent implementations.
package simcluster
