// Package realsuite has the tests that hold the product to MongoDB itself: what it locates, changes,
// takes back and says when a member hangs. The same tests run on real clusters that package realcluster
// starts (MONGODB_BIN) and on the simulated cluster, so that both are held to the same sentences.
//
// The product runs as a process of its own, as people run it. The tests talk to its API, read the truth
// from the cluster with a driver of their own, and hurt the cluster through one interface, which both
// kinds of clusters fulfil.
//
// What is known to fail on a release is in known_failures.txt. How to run one test on one release is in
// CONTRIBUTING.md.
package realsuite
