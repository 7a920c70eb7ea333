package enginetest

import (
	"os"
	"strconv"
	"testing"
)

// much is how often something is tried: with -short, by default, and with
// SHARDBOARD_LONG=1.
func much(short, usual, long int) int {
	switch {
	case testing.Short():
		return short
	case os.Getenv("SHARDBOARD_LONG") == "1":
		return long
	}
	return usual
}

// seeds are what random tests begin from: as many as usual, or the one that
// ACTIONS_SEED names, so that what was found can be seen again.
func seeds(t *testing.T, usual int) (from, to uint64) {
	t.Helper()
	if one := os.Getenv("ACTIONS_SEED"); one != "" {
		n, err := strconv.ParseUint(one, 10, 64)
		if err != nil {
			t.Fatalf("ACTIONS_SEED: %v", err)
		}
		return n, n + 1
	}
	return 1, uint64(usual) + 1
}

// longSeeds is LONG_SEEDS where it is set.
func longSeeds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("LONG_SEEDS")); err == nil && n > 0 {
		return n
	}
	return usual
}
