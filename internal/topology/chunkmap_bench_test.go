package topology

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

// benchmarkMillion runs a benchmark on a million chunks on twelve shards, once with
// a numeric and once with a hashed shard key.
func benchmarkMillion(b *testing.B, run func(b *testing.B, p shardkey.Pattern, rows []Chunk)) {
	for _, c := range []struct {
		name string
		p    shardkey.Pattern
		cut  func(p shardkey.Pattern, i int64) shardkey.Key
	}{
		{"ranged", ranged(b), func(p shardkey.Pattern, i int64) shardkey.Key { return at(b, p, i*1000) }},
		{"hashed", hashedPattern(b), func(_ shardkey.Pattern, i int64) shardkey.Key {
			return shardkey.HashKey(math.MinInt64 + int64(uint64(i)*(math.MaxUint64/1_000_000)))
		}},
	} {
		b.Run(c.name, func(b *testing.B) { run(b, c.p, millionChunks(c.p, c.cut)) })
	}
}

func millionChunks(p shardkey.Pattern, cut func(shardkey.Pattern, int64) shardkey.Key) []Chunk {
	names := []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12"}
	const n = 1_000_000
	rows := make([]Chunk, 0, n)
	lo := p.Min()
	for i := range int64(n) {
		hi := p.Max()
		if i+1 < n {
			hi = cut(p, i+1)
		}
		rows = append(rows, Chunk{Min: lo, Max: hi, Shard: names[(i*i)%12], Version: Version{1, uint32(i)}})
		lo = hi
	}
	return rows
}

func BenchmarkBuildMillion(b *testing.B) {
	benchmarkMillion(b, func(b *testing.B, p shardkey.Pattern, rows []Chunk) {
		var m *ChunkMap
		for b.Loop() {
			in := slices.Clone(rows)
			var err error
			if m, err = BuildChunks(p, in); err != nil {
				b.Fatal(err)
			}
		}
		b.StopTimer()
		clear(rows) // otherwise the memory of their keys would be counted too
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		n := m.Len()
		runtime.KeepAlive(m)
		m = nil
		runtime.GC()
		runtime.ReadMemStats(&after)
		b.ReportMetric(float64(before.HeapAlloc-after.HeapAlloc)/float64(n), "kept-B/chunk")
	})
}

func BenchmarkApplyTwoOfMillion(b *testing.B) {
	benchmarkMillion(b, func(b *testing.B, p shardkey.Pattern, rows []Chunk) {
		m := must.Get(BuildChunks(p, rows))
		moved, control := m.At(123_456), m.At(700_000)
		b.ReportAllocs()
		for i := uint32(2); b.Loop(); i++ {
			moved.Version, control.Version = Version{i, 0}, Version{i, 1}
			if i%2 == 0 {
				moved.Shard = "s1"
			} else {
				moved.Shard = "s2"
			}
			next, _, err := m.Apply([]Chunk{moved, control})
			must.Do(b, err)
			m = next
		}
	})
}
