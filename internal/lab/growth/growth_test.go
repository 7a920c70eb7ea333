package growth

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

const gigabyte = 1_000_000_000

// published is the doubling of 64 shards: 500 GB each, 60 % full, in ranges of 1 GB; the history to load is 1.5
// times as much.
func published() *Input {
	in := &Input{Measure: ByBytes, Growth: 1.5, Group: 64,
		Pace: Pace{BytesPerSecond: 20_000_000, PerShard: 1, Cleanup: 15 * time.Minute}}
	c := Collection{NS: "orders.orders"}
	for i := range 64 {
		in.Shards = append(in.Shards, Shard{Name: fmt.Sprintf("shard-%d", i), Capacity: 500 * gigabyte})
		for range 300 {
			c.Chunks = append(c.Chunks, Chunk{Shard: i, Bytes: gigabyte})
		}
	}
	in.Collections = []Collection{c}
	for i := range 64 {
		in.Shards = append(in.Shards, Shard{Name: fmt.Sprintf("new-%d", i), Capacity: 500 * gigabyte, Added: true})
	}
	return in
}

func TestDoublingMovesTheFirstHalfOfEachShardToOneNewShard(t *testing.T) {
	in := published()
	p, err := Compute(in)
	must.Do(t, err)
	if want := int64(64 * 150 * gigabyte); p.Bytes != want || len(p.Moves) != 64*150 {
		t.Errorf("%d bytes move in %d moves, expected %d in %d", p.Bytes, len(p.Moves), want, 64*150)
	}
	target := map[int]int{}
	for _, m := range p.Moves {
		if to, ok := target[m.From]; ok && to != m.To {
			t.Fatalf("shard %d gives chunks to %d and %d, expected one", m.From, to, m.To)
		}
		target[m.From] = m.To
		must.That(t, m.Chunk%300 < 150, "chunk %d moves, which is in the second half of its shard", m.Chunk)
	}
	for i, u := range p.After {
		if u.Bytes != 150*gigabyte || p.Grown[i].Bytes != 375*gigabyte {
			t.Errorf("shard %d has %d bytes, later %d; expected 150 and 375 GB", i, u.Bytes, p.Grown[i].Bytes)
		}
	}
	expect.Equal(t, p.Ranges, 64, "ranges move, expected one of each shard")
	// Each of the groups has one move of each pair of shards, so it takes as long as one move.
	if len(p.Groups) != 150 || p.Duration != 150*50*time.Second {
		t.Errorf("%d groups take %s, expected 150 that take 50 s each", len(p.Groups), p.Duration)
	}
}

func TestBatchMovesChunksOfOneCollectionOneAfterTheOther(t *testing.T) {
	in := published()
	in.Pace.Pause = time.Minute
	p, err := Compute(in)
	must.Do(t, err)
	if got, want := p.BatchDuration(in), 64*150*50*time.Second+149*time.Minute; got != want {
		t.Errorf("%s, expected %s", got, want)
	}
	in.Collections = append(in.Collections, Collection{NS: "orders.others", Chunks: []Chunk{{Bytes: gigabyte}, {Bytes: gigabyte}}})
	in.Group = 0
	p, err = Compute(in)
	must.Do(t, err)
	// Both collections move at the same time, but not on the same shards.
	if got := p.BatchDuration(in); got < 64*150*50*time.Second || got > (64*150+2)*50*time.Second {
		t.Errorf("two collections take %s", got)
	}
}

func TestMovingBeforeTheDataGrowsMovesLessAndFits(t *testing.T) {
	in := published()
	p, err := Compute(in)
	must.Do(t, err)
	ways, err := Ways(in, p)
	must.That(t, err == nil && len(ways) == 2, "got %v, %v", ways, err)
	first, second := ways[0], ways[1]
	expect.That(t, first.Fits && !second.Fits, "fits: %v and %v, expected only to move first", first.Fits, second.Fits)
	if second.Bytes*10 != first.Bytes*25 {
		t.Errorf("%d and %d bytes move, expected 2.5 times as many when the data grows first", first.Bytes, second.Bytes)
	}
}

func TestNeededIsTheSmallestNumberOfShards(t *testing.T) {
	in := published()
	in.Shards = in.Shards[:64]
	n, ok, err := Needed(in, 0.8, 500*gigabyte, 256)
	// 48 TB in all, of which each shard takes 400 GB: 120 shards, which is 56 more.
	expect.That(t, n == 56 && ok && err == nil, "got %d, %v, %v; expected 56", n, ok, err)
	if _, ok, err := Needed(in, 0.8, 500*gigabyte, 20); ok || err != nil {
		t.Errorf("20 more shards are enough, expected not")
	}
}

// randomInput has collections of chunks of many sizes, zones, jumbo chunks and shards to empty or to fill.
func randomInput(r *rand.Rand) *Input {
	in := &Input{Measure: ByBytes, Group: r.IntN(20),
		Pace: Pace{BytesPerSecond: 1000, PerShard: 1 + r.IntN(3), Overhead: time.Second, Cleanup: time.Minute}}
	if r.IntN(2) == 0 {
		in.Measure = ByChunks
	}
	for i := range 2 + r.IntN(12) {
		in.Shards = append(in.Shards, Shard{Name: fmt.Sprint("s", i), Added: i > 1 && r.IntN(3) == 0, Emptied: i > 0 && r.IntN(4) == 0,
			Capacity: 1 << 40})
	}
	var owners []int
	for i, s := range in.Shards {
		if !s.Added {
			owners = append(owners, i)
		}
	}
	for range r.IntN(3) {
		in.Zones = append(in.Zones, []int{r.IntN(len(in.Shards)), 0})
	}
	for i := range 1 + r.IntN(3) {
		c := Collection{NS: fmt.Sprint("db.c", i)}
		for range r.IntN(300) {
			k := Chunk{Shard: owners[r.IntN(len(owners))], Bytes: int64(r.IntN(100_000)), Stays: r.IntN(30) == 0}
			if len(in.Zones) > 0 && r.IntN(4) == 0 {
				k.Zone = 1 + r.IntN(len(in.Zones))
			}
			c.Chunks = append(c.Chunks, k)
		}
		in.Collections = append(in.Collections, c)
	}
	return in
}

func TestPlansOfRandomClusters(t *testing.T) {
	for seed := range uint64(400) {
		in := randomInput(rand.New(rand.NewPCG(seed, 1)))
		p, err := Compute(in)
		must.Do(t, err)
		fail := func(format string, args ...any) {
			t.Helper()
			t.Fatalf("seed %d: "+format, append([]any{seed}, args...)...)
		}
		owner := map[[2]int]int{}
		for c := range in.Collections {
			for i, k := range in.Collections[c].Chunks {
				owner[[2]int{c, i}] = k.Shard
			}
		}
		for _, m := range p.Moves {
			at := [2]int{m.Collection, m.Chunk}
			k := in.Collections[m.Collection].Chunks[m.Chunk]
			if owner[at] != m.From || m.From == m.To || k.Stays || !allowed(in, k.Zone, m.To) || in.Shards[m.To].Emptied {
				fail("%+v of %+v", m, k)
			}
			owner[at] = m.To
			if owner[at] == k.Shard {
				fail("chunk %v moves twice", at)
			}
		}
		stays := map[Stay]bool{}
		for _, s := range p.Stay {
			stays[s] = true
		}
		for at, s := range owner {
			k := in.Collections[at[0]].Chunks[at[1]]
			if (in.Shards[s].Emptied || !allowed(in, k.Zone, s)) != stays[Stay{at[0], at[1]}] {
				fail("chunk %v on shard %d, which should not have it; said to stay: %v", at, s, stays[Stay{at[0], at[1]}])
			}
		}
		checkEven(t, seed, in, owner)
		checkClock(t, seed, in, p)
	}
}

// checkEven checks that no shard has a movable chunk too many: each has its part of each collection, within the
// size of one chunk.
func checkEven(t *testing.T, seed uint64, in *Input, owner map[[2]int]int) {
	t.Helper()
	for c, collection := range in.Collections {
		if slices.ContainsFunc(collection.Chunks, func(k Chunk) bool { return k.Stays || k.Zone > 0 }) {
			continue
		}
		have, total, may, largest := make([]int64, len(in.Shards)), int64(0), int64(0), int64(1)
		for i, k := range collection.Chunks {
			w := int64(1)
			if in.Measure == ByBytes {
				w = k.Bytes
			}
			have[owner[[2]int{c, i}]] += w
			total += w
			largest = max(largest, w)
		}
		for _, s := range in.Shards {
			if !s.Emptied {
				may++
			}
		}
		for i, s := range in.Shards {
			if off := have[i] - total/may; !s.Emptied && (off > largest || off < -largest) {
				t.Fatalf("seed %d: shard %d has %d of %s, expected %d ± %d", seed, i, have[i], collection.NS, total/may, largest)
			}
		}
	}
}

// checkClock checks that shards take part in no more moves at a time than they may, and the sums.
func checkClock(t *testing.T, seed uint64, in *Input, p *Plan) {
	t.Helper()
	var bytes int64
	used := slices.Clone(p.Before)
	for _, m := range p.Moves {
		at := 0
		for _, o := range p.Moves {
			if (o.From == m.From || o.To == m.From) && o.Start <= m.Start && m.Start < o.End {
				at++
			}
		}
		if at > in.Pace.PerShard {
			t.Fatalf("seed %d: shard %d takes part in %d moves at a time, allowed are %d", seed, m.From, at, in.Pace.PerShard)
		}
		if g := p.Groups[m.Group]; m.Start < g.Start || m.End > g.End {
			t.Fatalf("seed %d: a move is outside of its group", seed)
		}
		bytes += m.Bytes
		used[m.From].Bytes -= m.Bytes
		used[m.To].Bytes += m.Bytes
	}
	must.That(t, bytes == p.Bytes, "seed %d: %d bytes move, said are %d", seed, bytes, p.Bytes)
	for i := range used {
		if used[i].Bytes != p.After[i].Bytes || p.Peak[i] < max(p.Before[i].Bytes, p.After[i].Bytes) {
			t.Fatalf("seed %d: shard %d has %d bytes in the end, said are %d, at most %d", seed, i, used[i].Bytes, p.After[i].Bytes, p.Peak[i])
		}
	}
}

func TestSpaceCountsAtTheSourceUntilItHasDeleted(t *testing.T) {
	in := &Input{Measure: ByBytes, Group: 1, Pace: Pace{BytesPerSecond: 10, PerShard: 1, Cleanup: 15 * time.Minute},
		Shards:      []Shard{{Name: "a", Capacity: 100, Emptied: true}, {Name: "b", Capacity: 100}, {Name: "c", Capacity: 100}},
		Collections: []Collection{{NS: "d.c", Chunks: []Chunk{{Bytes: 30}, {Bytes: 30}, {Shard: 1, Bytes: 10}, {Shard: 2, Bytes: 10}}}}}
	p, err := Compute(in)
	must.Do(t, err)
	if p.Peak[0] != 60 || p.Peak[1] != 40 || p.Peak[2] != 40 || p.Duration != 6*time.Second {
		t.Errorf("at most %v bytes, for %s; expected [60 40 40], 6 s", p.Peak, p.Duration)
	}
	if g := p.Groups[1]; g.Fullest != 0 || g.Used != 60 {
		t.Errorf("while the second group moves, shard %d has %d bytes; expected 60 on the first, which has not deleted any", g.Fullest, g.Used)
	}
}

func TestGrowthOfOneProjectGoesToTheShardsThatThenHaveItsChunks(t *testing.T) {
	in := &Input{Measure: ByBytes, Pace: Pace{BytesPerSecond: 10, PerShard: 1},
		Shards: []Shard{{Name: "a", Capacity: 100, Emptied: true, Other: 5, Grows: 7}, {Name: "b", Capacity: 100}},
		Collections: []Collection{{NS: "d.c", Chunks: []Chunk{{Bytes: 30, Grows: 40}, {Bytes: 20}, {Shard: 1, Bytes: 10, Grows: 1},
			{Bytes: 10, Grows: 3, Stays: true}}}}}
	p, err := Compute(in)
	must.Do(t, err)
	if p.Grown[0].Bytes != 5+7+10+3 || p.Grown[1].Bytes != 60+41 {
		t.Errorf("the shards have %d and %d bytes, expected 25 and 101", p.Grown[0].Bytes, p.Grown[1].Bytes)
	}
	ways, err := Ways(in, p)
	if err != nil || len(ways) != 2 || ways[0].Bytes != 50 || ways[1].Bytes != 90 {
		t.Errorf("got %+v, %v; expected 50 bytes to move first, 90 afterwards", ways, err)
	}
}

func TestBadInputIsNamedWithItsLimit(t *testing.T) {
	tests := []struct {
		change func(*Input)
		want   string
	}{
		{func(in *Input) { in.Shards = nil }, "shards: there are 0, expected 1 to 1024"},
		{func(in *Input) {
			for i := range in.Shards {
				in.Shards[i].Emptied = true
			}
		}, "no shard is left"},
		{func(in *Input) { in.Growth = -1 }, "growth: it is -1, expected 0 to 1000"},
		{func(in *Input) { in.Pace.PerShard = 0 }, "perShard: it is 0, expected 1 to 64"},
		{func(in *Input) { in.Pace.BytesPerSecond = 0 }, "rate: it is 0"},
		{func(in *Input) { in.Group = -1 }, "group: it is -1"},
		{func(in *Input) { in.Measure = "" }, `measure: it is ""`},
		{func(in *Input) { in.Collections[0].Chunks[2].Shard = 500 }, "chunk 3 of orders.orders"},
	}
	for _, x := range tests {
		in := published()
		x.change(in)
		if _, err := Compute(in); err == nil || !strings.Contains(err.Error(), x.want) {
			t.Errorf("got %v, expected %q", err, x.want)
		}
	}
}
