//go:build race

package placement_test

// The race detector makes the simulated cluster ten times slower.
func init() { slowdown = 10 }
