package topology

import (
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

func pattern(t testing.TB, fields ...bson.E) shardkey.Pattern {
	t.Helper()
	raw := must.Get(bson.Marshal(bson.D(fields)))
	p := must.Get(shardkey.ParsePattern(raw))
	return p
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
	k := must.Get(p.KeyOf(bson.RawValue{Type: typ, Value: val}))
	return k
}

const (
	lowest  int64 = -1 << 62
	highest int64 = 1 << 62
)

// row is a chunk [lo, hi) in a test.
func row(t testing.TB, p shardkey.Pattern, lo, hi int64, shard string, major, minor uint32) Chunk {
	return Chunk{Min: at(t, p, lo), Max: at(t, p, hi), Shard: shard, Version: Version{major, minor}}
}

func mustBuild(t testing.TB, p shardkey.Pattern, rows ...Chunk) *ChunkMap {
	t.Helper()
	m := must.Get(BuildChunks(p, slices.Clone(rows)))
	return m
}

func TestOverlapIsHalfOpen(t *testing.T) {
	p := ranged(t)
	m := mustBuild(t, p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "a", 1, 1), row(t, p, 10, highest, "b", 1, 2))
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
	m := mustBuild(t, p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "a", 1, 1), row(t, p, 10, 20, "a", 1, 2),
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
	m := mustBuild(t, p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, highest, "a", 1, 1))
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
