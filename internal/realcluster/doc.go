// Package realcluster starts sharded clusters of real mongod and mongos processes for tests, hurts
// them and ends them. It uses loopback, free ports, small caches and a temporary folder, so that
// several clusters can run side by side and nothing of the machine's own MongoDB is touched.
//
// Nothing remains after a test: Stop ends every process and removes the folder. If the test itself is
// killed, the kernel ends the processes with it (Linux), and the next Start removes what is left.
//
// Every failure to start is one sentence that says what is wrong and what helps.
package realcluster
