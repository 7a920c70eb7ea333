package topology

import (
	"math"
	"math/rand/v2"
	"slices"
	"sort"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/shardkey"
)

func hashedPattern(t testing.TB) shardkey.Pattern {
	return pattern(t, bson.E{Key: "k", Value: "hashed"})
}

// hashedRows are chunks [MinKey, cuts[0]), [cuts[0], cuts[1]) … on three shards.
func hashedRows(p shardkey.Pattern, cuts []int64) []Chunk {
	rows := make([]Chunk, 0, len(cuts)+1)
	lo := p.Min()
	for i := 0; i <= len(cuts); i++ {
		hi := p.Max()
		if i < len(cuts) {
			hi = shardkey.HashKey(cuts[i])
		}
		rows = append(rows, Chunk{Min: lo, Max: hi, Shard: string(rune('a' + i*i%7%3)), Version: Version{1, uint32(i)}})
		lo = hi
	}
	return rows
}

// checkHashSearch compares the search by number with the search by key.
func checkHashSearch(t interface{ Fatalf(string, ...any) }, m *ChunkMap, h int64) {
	want, chunk := m.Find(shardkey.HashKey(h))
	if got := m.FindHash(h); got != want || m.HashOwner(h) != chunk.Shard {
		t.Fatalf("hash %d is at %d on %s by number, at %d on %s by key", h, got, m.HashOwner(h), want, chunk.Shard)
	}
}

// hashesAround returns the hashes at and next to the bounds, and the ends of the hash space.
func hashesAround(cuts []int64) []int64 {
	out := []int64{math.MinInt64, math.MinInt64 + 1, -1, 0, 1, math.MaxInt64 - 1, math.MaxInt64}
	for _, c := range cuts {
		out = append(out, c-1, c, c+1)
	}
	return out
}

func TestHashSearchByNumberEqualsSearchByKey(t *testing.T) {
	p := hashedPattern(t)
	rapid.Check(t, func(rt *rapid.T) {
		cut := rapid.OneOf(
			rapid.Int64(),
			rapid.Int64Range(-300, 300),
			rapid.Int64Range(math.MinInt64, math.MinInt64+3),
			rapid.Int64Range(math.MaxInt64-3, math.MaxInt64),
		)
		cuts := rapid.SliceOfNDistinct(cut, 0, 60, rapid.ID).Draw(rt, "cuts")
		slices.Sort(cuts)
		m, err := BuildChunks(p, hashedRows(p, cuts))
		if err != nil {
			rt.Fatal(err)
		}
		for _, h := range append(hashesAround(cuts), rapid.SliceOfN(rapid.Int64(), 1, 50).Draw(rt, "hashes")...) {
			checkHashSearch(rt, m, h)
		}
	})
}

// Splits and moves keep the hash numbers in step with the keys, in maps of many
// buckets whose bounds are even, random or so crowded that interpolation fails.
func TestHashNumbersFollowChanges(t *testing.T) {
	p := hashedPattern(t)
	rng := rand.New(rand.NewPCG(3, 3))
	for name, draw := range map[string]func(i int) int64{
		"even":    func(i int) int64 { return math.MinInt64 + int64(uint64(i+1)*(math.MaxUint64/3000)) },
		"random":  func(int) int64 { return int64(rng.Uint64()) },
		"crowded": func(int) int64 { return int64(math.Exp(rng.Float64()*43)) - 1000 },
	} {
		t.Run(name, func(t *testing.T) {
			var cuts []int64
			for i := range 2999 {
				cuts = append(cuts, draw(i))
			}
			slices.Sort(cuts)
			cuts = slices.Compact(cuts)
			m := mustBuild(t, p, hashedRows(p, cuts)...)
			for round := range uint32(40) {
				i := rng.IntN(m.Len())
				c := m.At(i)
				c.Shard, c.Version = "d", Version{2 + round, 0}
				rows := []Chunk{c}
				lo, _ := c.Min.HashFloor()
				if cut := lo + 1 + rng.Int64N(1<<20); shardkey.HashKey(cut).Compare(c.Max) < 0 {
					rows = []Chunk{c, c}
					rows[0].Max, rows[1].Min = shardkey.HashKey(cut), shardkey.HashKey(cut)
					rows[1].Version.Minor = 1
					cuts = append(cuts, cut)
				}
				next, _, err := m.Apply(rows)
				if err != nil {
					t.Fatal(err)
				}
				if !next.numbers || len(next.heads) != len(next.buckets) {
					t.Fatal("the hash numbers are missing")
				}
				m = next
			}
			slices.Sort(cuts)
			for _, h := range hashesAround(cuts) {
				checkHashSearch(t, m, h)
			}
		})
	}
}

func TestBoundsThatAreNotNumbersAreFoundByKey(t *testing.T) {
	p, plain := hashedPattern(t), ranged(t)
	typ, val, err := bson.MarshalValue("text")
	if err != nil {
		t.Fatal(err)
	}
	odd, err := plain.KeyOf(bson.RawValue{Type: typ, Value: val})
	if err != nil {
		t.Fatal(err)
	}
	m := mustBuild(
		t,
		p,
		Chunk{Min: p.Min(), Max: shardkey.HashKey(5), Shard: "a", Version: Version{1, 0}},
		Chunk{
			Min:     shardkey.HashKey(5),
			Max:     odd,
			Shard:   "b",
			Version: Version{1, 1},
		},
		Chunk{Min: odd, Max: p.Max(), Shard: "c", Version: Version{1, 2}},
	)
	if m.numbers || m.HashOwner(4) != "a" || m.FindHash(5) != 1 || m.HashOwner(math.MaxInt64) != "b" {
		t.Errorf("numbers %v, 4 on %s, 5 at %d, the highest on %s", m.numbers, m.HashOwner(4), m.FindHash(5), m.HashOwner(math.MaxInt64))
	}
	c := m.At(0)
	c.Shard, c.Version = "d", Version{2, 0}
	next, _, err := m.Apply([]Chunk{c})
	if err != nil || next.HashOwner(4) != "d" {
		t.Errorf("after a move 4 is on %s, %v", next.HashOwner(4), err)
	}
}

func TestHashSearchNeedsASingleHashedField(t *testing.T) {
	p := ranged(t)
	m := mustBuild(t, p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, highest, "b", 1, 1))
	var none *ChunkMap
	if m.FindHash(0) != -1 || m.HashOwner(0) != "" || none.FindHash(0) != -1 || none.HashOwner(0) != "" {
		t.Error("a hash was found in a map that is not hashed")
	}
}

func TestLastAtMostIsRightForAnyDistribution(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		shift := rapid.IntRange(0, 63).Draw(rt, "shift")
		gen := rapid.Custom(func(t *rapid.T) int64 { return rapid.Int64().Draw(t, "n") >> shift })
		sorted := rapid.SliceOfN(gen, 1, 100).Draw(rt, "numbers")
		if rapid.Bool().Draw(rt, "outlier") {
			sorted = append(sorted, math.MinInt64, math.MaxInt64)
		}
		slices.Sort(sorted)
		lo, hi := sorted[0], sorted[len(sorted)-1]
		if rapid.Bool().Draw(rt, "wide") {
			lo, hi = math.MinInt64, math.MaxInt64
		}
		for _, h := range append(hashesAround(sorted), gen.Draw(rt, "h")) {
			want := max(sort.Search(len(sorted), func(i int) bool { return sorted[i] > h })-1, 0)
			if h < lo || h > hi {
				continue
			}
			if got := lastAtMost(sorted, lo, hi, h); got != want {
				rt.Fatalf("%d in %v: %d, want %d", h, sorted, got, want)
			}
		}
	})
}
