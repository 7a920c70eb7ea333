package enginetest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// sampleSize is how often something is tried: with -short, in make test-all, and in make long (SHARDBOARD_LONG=hours).
func sampleSize(short, usual, long int) int {
	switch {
	case testing.Short():
		return short
	case os.Getenv("SHARDBOARD_LONG") == "hours":
		return long
	}
	return usual
}

// seeds is the range of seeds of random tests: as many as usual, or only the one in
// ACTIONS_SEED, to repeat a failure.
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

// longSeeds is the value of LONG_SEEDS, if set.
func longSeeds(usual int) int {
	if n, err := strconv.Atoi(os.Getenv("LONG_SEEDS")); err == nil && n > 0 {
		return n
	}
	return usual
}

// tally counts events, so that the log shows when a test did nothing.
type tally struct {
	mu sync.Mutex
	of map[string]int
}

func (t *tally) count(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.of == nil {
		t.of = map[string]int{}
	}
	t.of[what]++
}

func (t *tally) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return fmt.Sprint(t.of)
}

// durations collects how long runs took in simulated time, by what they did.
type durations struct {
	mu sync.Mutex
	of map[string][]time.Duration
}

func (s *durations) add(what string, d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.of == nil {
		s.of = map[string][]time.Duration{}
	}
	s.of[what] = append(s.of[what], d)
}

func (s *durations) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var b strings.Builder
	for _, what := range slices.Sorted(maps.Keys(s.of)) {
		all := slices.Sorted(slices.Values(s.of[what]))
		fmt.Fprintf(&b, "%s: %d, median %s, most %s\n", what, len(all), all[len(all)/2], all[len(all)-1])
	}
	return b.String()
}
