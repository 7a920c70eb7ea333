// Package enginetest holds tests only: plans and runs of the engine, through the
// real driver, at a simulated cluster with faults, with a journal that fails
// where it is told to, in simulated time. A Rig is one such world; what a test
// asks of it afterwards is read from the simulated cluster itself, beside our
// own reader, and what was sent is counted at the wire.
package enginetest
