package keyvis

import (
	"math/rand/v2"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/heat"
)

// Time that passes twice because of a wrong clock may be shown once or twice, and
// nothing fails.
func TestHeatMapContinuesWhenTheClockIsSet(t *testing.T) {
	w := collectionCutAt(1, routing.EvenHashes(8)...)
	r := New(w, nil, nil)
	rng := rand.New(rand.NewPCG(1, 1))
	at := begin
	take := func(minutes int) {
		for range minutes * int(time.Minute/heat.Tick) {
			r.Take(countedSlot(w, at, 1, randomCounts(rng)...))
			at = at.Add(heat.Tick)
		}
	}
	for _, step := range []time.Duration{0, -24 * time.Hour, 24 * time.Hour, 24 * time.Hour, -24 * time.Hour} {
		at = at.Add(step).Truncate(time.Minute)
		take(90)
		for _, by := range []By{ByKey, ByProject} {
			v, ok := r.View(ns, by, at.Add(-time.Hour), at)
			expect.That(t, ok && len(v.Columns) >= 50, "after %s, %s: %d columns of the last hour", step, by, len(v.Columns))
			_ = totalWrites(v)
		}
	}
}
