// Package conformance has a test suite for topology.Source and actions.Admin. It runs
// on the simulated cluster in every supported release, and on the real mongos in
// SHARDBOARD_TEST_MONGODB_URI. Shardboard may rely only on behaviour that passes on
// both. Both may have a busy balancer: a move that conflicts with another one is sent
// again for at most two minutes.
//
// On a real cluster it writes only to databases and zones named shardboard_test_*, and
// removes them even when a test fails. It does not change the balancer of a cluster
// with other databases.
package conformance
