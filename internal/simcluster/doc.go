// Package simcluster is a sharded MongoDB cluster in one process: a mongos, a
// config server and any number of shards that speak the MongoDB wire protocol to
// every driver, over an in-process pipe or over TCP.
//
// Documents are stored on shards and routed by shard key through a chunk table.
// config.* holds the documents of a real cluster; splits, moves, zones and the balancer
// change both. Replies follow MongoDB 5.0.7 and 8.0.10 as recorded on real clusters;
// Options.ServerVersion selects the release. It has what tools and drivers send to
// sharded clusters; anything else fails as an unknown command or operator does.
//
// Another project uses it in its tests as a process: `shardboard simcluster --listen
// 127.0.0.1:0 --empty --still` prints the address to connect to, and with --faults the
// command simulateFault makes any other command wait, fail or lose its connection at a
// named step (docs/simcluster.md). Tests of this repository call New, Start and Close,
// and plant faults with Faults.
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
