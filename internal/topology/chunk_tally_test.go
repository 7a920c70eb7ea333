package topology

import (
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// randomMap has n chunks in stretches of up to ten on one of five shards.
func randomMap(t testing.TB, n int, r *rand.Rand) *ChunkMap {
	t.Helper()
	p := ranged(t)
	rows := make([]Chunk, 0, n)
	lo := p.Min()
	shard, left := "", 0
	for i := range n {
		if left == 0 {
			shard, left = []string{"a", "b", "c", "d", "e"}[r.IntN(5)], 1+r.IntN(10)
		}
		left--
		hi := p.Max()
		if i+1 < n {
			hi = at(t, p, int64(i+1)*1000)
		}
		rows = append(rows, Chunk{Min: lo, Max: hi, Shard: shard, Version: Version{1, uint32(i)}, Jumbo: r.IntN(50) == 0,
			Since: bson.Timestamp{T: r.Uint32N(3) * r.Uint32N(1000)}})
		lo = hi
	}
	m := must.Get(BuildChunks(p, rows))
	return m
}

func TestTallyOfAnyStretchIsTheSumOfItsChunks(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	m := randomMap(t, 3000, r)
	moved := m.At(777)
	moved.Shard, moved.Version = "new", Version{9, 0}
	next, _, err := m.Apply([]Chunk{moved})
	must.Do(t, err)
	checkTallies(t, r, next)
	checkTallies(t, r, m) // has not changed
}

func checkTallies(t *testing.T, r *rand.Rand, m *ChunkMap) {
	t.Helper()
	var got Tally
	for range 300 {
		from := r.IntN(m.Len())
		to := from + r.IntN(m.Len()-from+1)
		want := Tally{ByShard: make([]int, len(m.ShardNames()))}
		runs, starts, last := 0, []int(nil), ""
		for i, c := range m.Range(from, to) {
			want.Chunks++
			want.ByShard[slices.Index(m.ShardNames(), c.Shard)]++
			if c.Jumbo {
				want.Jumbo++
			}
			if s := c.Since.T; s != 0 {
				want.Newest = max(want.Newest, s)
				if want.Oldest == 0 || s < want.Oldest {
					want.Oldest = s
				}
			}
			if c.Shard != last {
				runs, starts, last = runs+1, append(starts, i), c.Shard
			}
		}
		m.Tally(&got, from, to)
		if got.Chunks != want.Chunks || got.Jumbo != want.Jumbo || got.Newest != want.Newest || got.Oldest != want.Oldest ||
			!slices.Equal(got.ByShard, want.ByShard) {
			t.Fatalf("chunks %d to %d: got %+v, want %+v", from, to, got, want)
		}
		if n := m.CountRuns(from, to); n != runs {
			t.Fatalf("chunks %d to %d: got %d stretches on one shard, want %d", from, to, n, runs)
		}
		if list := m.RunStarts(from, to); !slices.Equal(list, starts) {
			t.Fatalf("chunks %d to %d: stretches begin at %v, want %v", from, to, list, starts)
		}
	}
}
