package topology

import (
	"runtime"
	"slices"
	"testing"
)

// million is a table of a million chunks on twelve shards.
func million(b *testing.B) ([]Chunk, []string) {
	p := ranged(b)
	names := []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12"}
	const n = 1_000_000
	rows := make([]Chunk, 0, n)
	lo := p.Min()
	for i := range int64(n) {
		hi := p.Max()
		if i+1 < n {
			hi = at(b, p, i*1000)
		}
		rows = append(rows, Chunk{Min: lo, Max: hi, Shard: names[(i*i)%12], Version: Version{1, uint32(i)}})
		lo = hi
	}
	return rows, names
}

func BenchmarkBuildMillion(b *testing.B) {
	rows, _ := million(b)
	p := ranged(b)
	var m *ChunkMap
	for b.Loop() {
		in := slices.Clone(rows)
		var err error
		if m, err = BuildChunks(p, in); err != nil {
			b.Fatal(err)
		}
	}
	b.StopTimer()
	rows = nil
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	n := m.Len()
	runtime.KeepAlive(m)
	m = nil
	runtime.GC()
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(before.HeapAlloc-after.HeapAlloc)/float64(n), "kept-B/chunk")
}

func BenchmarkApplyTwoOfMillion(b *testing.B) {
	rows, _ := million(b)
	m, err := BuildChunks(ranged(b), rows)
	if err != nil {
		b.Fatal(err)
	}
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
		if err != nil {
			b.Fatal(err)
		}
		m = next
	}
}

func BenchmarkFindInMillion(b *testing.B) {
	rows, _ := million(b)
	p := ranged(b)
	m, err := BuildChunks(p, rows)
	if err != nil {
		b.Fatal(err)
	}
	k := at(b, p, 555_555_500)
	b.ReportAllocs()
	for b.Loop() {
		m.Find(k)
	}
}
