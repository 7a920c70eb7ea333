package topology

import (
	"bufio"
	"bytes"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

func pattern(t testing.TB, fields ...bson.E) shardkey.Pattern {
	t.Helper()
	raw := must.Get(bson.Marshal(bson.D(fields)))
	return must.Get(shardkey.ParsePattern(raw))
}

func ranged(t testing.TB) shardkey.Pattern { return pattern(t, bson.E{Key: "k", Value: int32(1)}) }

// at is the key {k: n}; MinKey and MaxKey for the ends of the int range used in tests.
func at(t testing.TB, p shardkey.Pattern, n int64) shardkey.Key {
	t.Helper()
	switch n {
	case -1 << 62:
		return p.Min()
	case 1 << 62:
		return p.Max()
	}
	typ, val, err := bson.MarshalValue(n)
	must.Do(t, err)
	return must.Get(p.KeyOf(bson.RawValue{Type: typ, Value: val}))
}

const (
	lowest  int64 = -1 << 62
	highest int64 = 1 << 62
)

// row is a chunk [lo, hi) in a test.
func row(t testing.TB, p shardkey.Pattern, lo, hi int64, shard string, major, minor uint32) Chunk {
	return Chunk{Min: at(t, p, lo), Max: at(t, p, hi), Shard: shard, Version: Version{major, minor}}
}

func mustBuild(p shardkey.Pattern, rows ...Chunk) *ChunkMap {
	return must.Get(BuildChunks(p, slices.Clone(rows)))
}

func TestOverlapIsHalfOpen(t *testing.T) {
	p := ranged(t)
	m := mustBuild(p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "a", 1, 1), row(t, p, 10, highest, "b", 1, 2))
	for _, c := range []struct{ lo, hi, from, to int64 }{
		{0, 10, 1, 2}, {0, 11, 1, 3}, {-5, 0, 0, 1}, {-5, 1, 0, 2}, {3, 4, 1, 2}, {lowest, highest, 0, 3}, {10, highest, 2, 3}, {5, 5, 1, 1},
	} {
		from, to := m.Overlap(shardkey.Range{Min: at(t, p, c.lo), Max: at(t, p, c.hi)})
		if from != int(c.from) || to != int(c.to) {
			t.Errorf("[%d, %d) overlaps [%d, %d), want [%d, %d)", c.lo, c.hi, from, to, c.from, c.to)
		}
	}
}

func TestApplyReportsWhatChanged(t *testing.T) {
	p := ranged(t)
	m := mustBuild(p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "a", 1, 1), row(t, p, 10, 20, "a", 1, 2),
		row(t, p, 20, highest, "b", 1, 3))
	for _, c := range []struct {
		name string
		rows []Chunk
		want []Change
	}{
		{"move with its control chunk", []Chunk{row(t, p, 0, 10, "b", 2, 0), row(t, p, lowest, 0, "a", 2, 1)},
			[]Change{{Kind: Moved, Min: at(t, p, 0), Max: at(t, p, 10), From: "a", To: "b"}}},
		{"split", []Chunk{row(t, p, 0, 5, "a", 1, 4), row(t, p, 5, 10, "a", 1, 5)},
			[]Change{{Kind: Split, Min: at(t, p, 0), Max: at(t, p, 10)}}},
		{"merge", []Chunk{row(t, p, 0, 20, "a", 1, 4)},
			[]Change{{Kind: Merged, Min: at(t, p, 0), Max: at(t, p, 20)}}},
		{"part of a chunk moved", []Chunk{row(t, p, 0, 4, "a", 2, 1), row(t, p, 4, 10, "b", 2, 0)},
			[]Change{{Kind: Split, Min: at(t, p, 0), Max: at(t, p, 10)}, {Kind: Moved, Min: at(t, p, 4), Max: at(t, p, 10), From: "a", To: "b"}}},
		{"version only", []Chunk{row(t, p, 0, 10, "a", 2, 0)}, nil},
		{"nothing new", []Chunk{row(t, p, 20, highest, "b", 1, 3)}, nil},
	} {
		_, got, err := m.Apply(c.rows)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if !slices.EqualFunc(got, c.want, func(a, b Change) bool {
			return a.Kind == b.Kind && a.Min.Compare(b.Min) == 0 && a.Max.Compare(b.Max) == 0 && a.From == b.From && a.To == b.To
		}) {
			t.Errorf("%s: changes %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestReflagUpdatesFlagsAndDetectsMissedChanges(t *testing.T) {
	p := ranged(t)
	m := mustBuild(p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, highest, "a", 1, 1))
	jumbo := row(t, p, 0, highest, "a", 1, 1)
	jumbo.Jumbo = true
	next, missed := m.Reflag([]Chunk{jumbo})
	if missed || next.Jumbo() != 1 || m.Jumbo() != 0 || next.Highest() != m.Highest() {
		t.Fatalf("missed %t, jumbo %d (before %d)", missed, next.Jumbo(), m.Jumbo())
	}
	if _, missed := m.Reflag([]Chunk{row(t, p, 0, highest, "b", 9, 0)}); missed {
		t.Error("a row newer than the map must be left to the routing poll")
	}
	if _, missed := m.Reflag([]Chunk{row(t, p, lowest, 0, "b", 1, 1)}); !missed {
		t.Error("a row that the map should have must be noticed")
	}
}

func hashedPattern(t testing.TB) shardkey.Pattern {
	return pattern(t, bson.E{Key: "k", Value: "hashed"})
}

// No server writes a bound of a hashed field that is no number, but bounds are read from a database.
func TestHashesAreFoundBesideBoundsThatAreNoNumbers(t *testing.T) {
	p, plain := hashedPattern(t), ranged(t)
	typ, val, err := bson.MarshalValue("text")
	must.Do(t, err)
	odd := must.Get(plain.KeyOf(bson.RawValue{Type: typ, Value: val}))
	five := shardkey.HashKey(5)
	m := mustBuild(p,
		Chunk{Min: p.Min(), Max: five, Shard: "a", Version: Version{1, 0}},
		Chunk{Min: five, Max: odd, Shard: "b", Version: Version{1, 1}},
		Chunk{Min: odd, Max: p.Max(), Shard: "c", Version: Version{1, 2}})
	for h, want := range map[int64]string{math.MinInt64: "a", 4: "a", 5: "b", 6: "b", math.MaxInt64: "b"} {
		if _, c := m.Find(shardkey.HashKey(h)); c.Shard != want {
			t.Errorf("%d is on %s, want %s", h, c.Shard, want)
		}
	}
}

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
	return must.Get(BuildChunks(p, rows))
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

func columnsOf(tb testing.TB, m *ChunkMap) []byte {
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	must.Do(tb, m.WriteColumns(w))
	must.Do(tb, w.Flush())
	return out.Bytes()
}

func readColumns(b []byte, p shardkey.Pattern) (*ChunkMap, error) {
	left := int64(len(b))
	return ReadColumns(bufio.NewReader(bytes.NewReader(b)), &left, p)
}

// A map that was written is read back as it was, counts, flags and further changes included, and what is cut off or
// changed is refused or some map, but ends no process.
func TestChunkMapsAreReadBackAsTheyWereWritten(t *testing.T) {
	shards := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(rt *rapid.T) {
		p := ranged(t)
		w := &referenceMap{p: p, cuts: []int64{lowest}, rows: []Chunk{row(t, p, lowest, highest, "a", 1, 0)}, major: 1, minor: 1}
		n := func(k int) int { return rapid.IntRange(0, k-1).Draw(rt, "n") }
		m := mustBuild(p, w.rows...)
		for range rapid.IntRange(1, 40).Draw(rt, "steps") {
			w.randomChange(t, n, shards)
			next, _, err := m.Apply(w.changedSince(m.Highest()))
			must.Do(rt, err)
			flagged := next.At(n(next.Len()))
			flagged.Jumbo = n(2) == 0
			m, _ = next.Reflag([]Chunk{flagged})
		}
		b := columnsOf(t, m)
		back, err := readColumns(b, p)
		if err != nil || !back.Equal(m) || back.Highest() != m.Highest() || back.Jumbo() != m.Jumbo() {
			rt.Fatalf("%d of %d chunks, %v", back.Len(), m.Len(), err)
		}
		for s, chunks := range m.CountByShard() {
			if back.CountByShard()[s] != chunks {
				rt.Fatalf("%s has %d chunks, want %d", s, back.CountByShard()[s], chunks)
			}
		}
		w.randomChange(t, n, shards)
		was, _, err := m.Apply(w.changedSince(m.Highest()))
		must.Do(rt, err)
		if is, _, err := back.Apply(w.changedSince(m.Highest())); err != nil || !is.Equal(was) {
			rt.Fatalf("after a further change: %v", err)
		}
		must.That(rt, must.Err(readColumns(b[:n(len(b))], p)) != nil, "a cut off map was read")
		b[n(len(b))] ^= byte(1 + n(255))
		_, _ = readColumns(b, p)
	})
}

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
			m, err = BuildChunks(p, in)
			must.Do(b, err)
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
