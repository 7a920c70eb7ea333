// Package simcluster is a sharded MongoDB cluster in one process: a mongos, a
// config server and any number of shards that speak the MongoDB wire protocol to
// every driver, over an in-process pipe or over TCP.
//
// Documents are stored on shards and routed by shard key through a chunk table.
// config.* holds the documents of a real cluster; splits, moves, zones and the balancer
// change both. Replies follow MongoDB 5.0.7 as recorded on a real cluster;
// Options.ServerVersion selects the differences of other versions.
//
// Subpackages: wire parses the wire protocol, engine stores and queries documents,
// catalog holds the routing table and the sharding commands, access holds users and
// roles, balancer moves chunks, workload generates data and writes. This package is the
// mongos: connections, sessions, cursors, and the commands that read and write
// documents through the routing table.
//
// It imports no other package of shardboard, so that tests can compare two independent
// implementations of the same rules.
package simcluster
