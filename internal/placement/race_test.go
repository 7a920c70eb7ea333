//go:build race

package placement_test

import ()

import ()

import ()

// The race detector makes the simulated cluster ten times slower.
func init() { slowdown = 10 }
