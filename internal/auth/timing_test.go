package auth

import (
	"fmt"
	"os"
	"slices"
	"testing"
	"time"
)

func TestSignInTakesAsLongForUnknownUsersAsForKnownOnes(t *testing.T) {
	if testing.Short() || os.Getenv("SHARDBOARD_TIMING") == "" {
		t.Skip("measures time: with SHARDBOARD_TIMING=1")
	}
	h := newFixture(t, func(o *Options) { o.Cost = DefaultCost() })
	const rounds = 60
	for i := range rounds {
		h.add(t, fmt.Sprint("known-", i), Viewer)
	}
	measure := func(name string, i int) time.Duration {
		began := time.Now()
		_, _, err := h.SignIn(
			t.Context(),
			Credentials{Name: fmt.Sprint(name, i), Password: "wrong password", From: fmt.Sprintf("10.0.%d.%d", len(name), i)},
		)
		if err != ErrCredentials {
			t.Fatal(err)
		}
		return time.Since(began)
	}
	var known, unknown []time.Duration
	for i := range rounds { // alternating, so that a slow machine slows both
		known, unknown = append(known, measure("known-", i)), append(unknown, measure("unknown-", i))
	}
	slices.Sort(known)
	slices.Sort(unknown)
	ratio := float64(known[rounds/2]) / float64(unknown[rounds/2])
	t.Logf("median known %s, unknown %s, ratio %.3f", known[rounds/2], unknown[rounds/2], ratio)
	if ratio < 0.9 || ratio > 1.1 {
		t.Errorf("known ÷ unknown is %.3f", ratio)
	}
}
