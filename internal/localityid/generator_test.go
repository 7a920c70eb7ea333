package localityid

import (
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// mostChiSquare is exceeded by one even spread over 16 shards in a hundred (15 degrees of freedom).
const mostChiSquare = 30.58

// chiSquare compares how many ids fall into each of 16 equal parts of the key space with an even spread.
func chiSquare(ids []ID) (sum float64) {
	var shards [16]float64
	for _, id := range ids {
		shards[id[0]>>4]++
	}
	even := float64(len(ids)) / 16
	for _, n := range shards {
		sum += (n - even) * (n - even) / even
	}
	return sum
}

// maker draws a generator whose clock goes on by a few milliseconds at an id, and sometimes back.
func maker(t *rapid.T, mode Mode, name string, back bool) *Generator {
	at := time.UnixMilli(rapid.Int64Range(1_400_000_000_000, 1_800_000_000_000).Draw(t, name+" begins"))
	steps := rapid.SliceOfN(rapid.IntRange(0, 3), 8, 8).Draw(t, name+" steps")
	n := 0
	return NewGenerator(Options{Mode: mode, Process: rapid.Uint16().Draw(t, name+" process"),
		MAC: rapid.Uint32Range(0, MaxMAC).Draw(t, name+" mac"), Counter: rapid.Uint32().Draw(t, name+" counter"),
		Now: func() time.Time {
			n++
			at = at.Add(time.Duration(steps[n%len(steps)]) * time.Millisecond)
			if back && n%100 == 0 {
				at = at.Add(-20 * time.Minute)
			} else if back && n%100 == 50 {
				at = at.Add(21 * time.Minute)
			}
			return at
		}})
}

func TestNoIDIsMadeTwice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := maker(t, rapid.SampledFrom([]Mode{Default, Sequential}).Draw(t, "mode"), "maker", true)
		seen := map[ID]bool{}
		for range 2_000 {
			id := g.Next()
			must.That(t, !seen[id], "%s was made twice", id)
			seen[id] = true
		}
	})
}

func TestDefaultModeSpreadsIDsOverAllShards(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := maker(t, Default, "maker", false)
		var ids []ID
		for range rapid.IntRange(160, 3_000).Draw(t, "ids") {
			ids = append(ids, g.Next())
		}
		if x := chiSquare(ids); x > mostChiSquare {
			t.Fatalf("%d ids: chi-square %.1f, at most %.1f for an even spread", len(ids), x, mostChiSquare)
		}
	})
}

// Also of several machines: their ids of one window lie in one narrow range, which is as wide as the longest run of ids
// that one machine has made.
func TestSequentialModeKeepsIDsOfOneWindowTogether(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		window := time.UnixMilli(rapid.Int64Range(1_400_000_000_000, 1_800_000_000_000).Draw(t, "time")).Truncate(Window)
		start := WindowStart(window)
		var ids []ID
		for machine := range uint32(rapid.IntRange(1, 4).Draw(t, "machines")) {
			n := rapid.IntRange(1, 500).Draw(t, "ids")
			at := window.Add(time.Duration(rapid.Int64Range(0, int64(Window/2)).Draw(t, "begins")))
			g := NewGenerator(Options{Mode: Sequential, MAC: machine,
				Now: func() time.Time { at = at.Add(Window / 2 / 501); return at }})
			for range n {
				id := g.Next()
				if d := id.Fields().Counter - start; d < 1 || d > 500 {
					t.Fatalf("%s is %d after the start of its window", id, d)
				}
				ids = append(ids, id)
			}
		}
		if x := chiSquare(ids); len(ids) > 500 && start>>28 == (start+501)>>28 && x <= mostChiSquare {
			t.Fatalf("%d ids of one window spread evenly: chi-square %.1f", len(ids), x)
		}
	})
}

func TestEachWindowHasAStartOfItsOwn(t *testing.T) {
	at := time.Date(2026, 5, 6, 7, 39, 59, 0, time.UTC)
	g := NewGenerator(Options{Mode: Sequential, Now: func() time.Time { return at }})
	before := g.Next().Fields().Counter
	at = at.Add(time.Second)
	after := g.Next().Fields().Counter
	if before != WindowStart(at.Add(-time.Second))+1 || after != WindowStart(at)+1 || before == after {
		t.Errorf("counters %x and %x", before, after)
	}
	at = at.Add(-time.Hour)
	if id := g.Next(); id.Fields().Counter != after+1 || id.Time().Format(time.TimeOnly) != "07:40:00" {
		t.Errorf("after the clock was set back %s follows %x", id, after)
	}
}

func TestGeneratorIsSafeForConcurrentUse(t *testing.T) {
	for _, mode := range []Mode{Default, Sequential} {
		g := NewGenerator(Options{Mode: mode, MAC: HostMAC()})
		made := make([][]ID, 8)
		var all sync.WaitGroup
		for i := range made {
			all.Go(func() {
				for range 500 {
					made[i] = append(made[i], g.Next())
				}
			})
		}
		all.Wait()
		seen := map[ID]bool{}
		for _, ids := range made {
			for _, id := range ids {
				seen[id] = true
			}
		}
		expect.That(t, len(seen) == 4_000, "%s: %d different ids of 4000", mode, len(seen))
	}
}
