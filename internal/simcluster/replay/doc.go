// Package replay reads recordings of real clusters, for tests. Its own tests send the recorded commands of clients of a
// real sharded MongoDB, 5.0.7 and 8.0.10, with the official driver to a new simulated cluster of that release, and
// compare every reply and every document of config.* with the recorded ones.
//
// Fields are compared exactly unless replay.yaml lists them with a reason. Generated
// values (uuids, epochs, object ids, cluster times, addresses) are compared too: there
// must be a one-to-one correspondence between recorded values and ours.
package replay
