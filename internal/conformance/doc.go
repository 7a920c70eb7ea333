// Package conformance holds one suite of tests over topology.Source and
// actions.Admin. It runs against the simulated cluster in every release that it
// can behave like, and against the real mongos that SHARDBOARD_TEST_MONGODB_URI
// names: what passes in both places is what shardboard may rely on. Both may have
// a busy balancer: a move whose shards are busy with another one is sent again, for
// at most two minutes.
//
// On a real cluster it writes only to databases named shardboard_test_* and to
// zones of that name, and removes them, also when a test fails. It leaves the
// balancer alone on a cluster that has other databases.
package conformance
