// Package enginetest contains only tests of the engine. They make and run plans
// through the real driver against a simulated cluster with faults and a journal
// whose writes fail on demand, in simulated time. A Rig is one such set-up. The
// results are checked against the state of the simulated cluster, which is read
// without the code under test, and against the commands that the cluster received.
package enginetest
