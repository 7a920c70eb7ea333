package topology

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/shardkey"
)

func pattern(t testing.TB, fields ...bson.E) shardkey.Pattern {
	t.Helper()
	raw, err := bson.Marshal(bson.D(fields))
	if err != nil {
		t.Fatal(err)
	}
	p, err := shardkey.ParsePattern(raw)
	if err != nil {
		t.Fatal(err)
	}
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
	if err != nil {
		t.Fatal(err)
	}
	k, err := p.KeyOf(bson.RawValue{Type: typ, Value: val})
	if err != nil {
		t.Fatal(err)
	}
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
	m, err := BuildChunks(p, slices.Clone(rows))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestBuildTakesRowsInAnyOrder(t *testing.T) {
	p := ranged(t)
	m := mustBuild(t, p, row(t, p, 10, highest, "b", 2, 0), row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "a", 2, 1))
	if m.Len() != 3 || m.Owner(0) != "a" || m.Owner(2) != "b" || m.Highest() != (Version{2, 1}) {
		t.Fatalf("got %d chunks, owners %s %s, highest %s", m.Len(), m.Owner(0), m.Owner(2), m.Highest())
	}
	if got := m.CountByShard(); got["a"] != 2 || got["b"] != 1 {
		t.Fatalf("counts %v", got)
	}
	if i, c := m.Find(at(t, p, 0)); i != 1 || c.Min.Compare(at(t, p, 0)) != 0 {
		t.Fatalf("a lower bound belongs to its chunk; got position %d", i)
	}
	if i, _ := m.Find(at(t, p, 9)); i != 1 {
		t.Fatalf("9 is at position %d, want 1", i)
	}
	if i, _ := m.Find(p.Max()); i != 2 {
		t.Fatalf("the maximum is at position %d, want the last", i)
	}
}

func TestOverlapIsHalfOpen(t *testing.T) {
	p := ranged(t)
	m := mustBuild(t, p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "a", 1, 1), row(t, p, 10, highest, "b", 1, 2))
	for _, c := range []struct{ lo, hi, from, to int64 }{
		{0, 10, 1, 2}, {0, 11, 1, 3}, {-5, 0, 0, 1}, {-5, 1, 0, 2}, {3, 4, 1, 2}, {lowest, highest, 0, 3}, {10, highest, 2, 3}, {5, 5, 1, 1},
	} {
		from, to := m.Overlap(shardkey.Range{Min: at(t, p, c.lo), Max: at(t, p, c.hi)})
		if from != int(c.from) || to != int(c.to) {
			t.Errorf("[%d, %d) meets [%d, %d), want [%d, %d)", c.lo, c.hi, from, to, c.from, c.to)
		}
	}
}

func TestBuildRefusesGapsAndOverlaps(t *testing.T) {
	p := ranged(t)
	for name, rows := range map[string][]Chunk{
		"no chunk at all":         {},
		"gap at the beginning":    {row(t, p, 0, highest, "a", 1, 0)},
		"gap in the middle":       {row(t, p, lowest, 0, "a", 1, 0), row(t, p, 1, highest, "a", 1, 1)},
		"gap at the end":          {row(t, p, lowest, 0, "a", 1, 0)},
		"overlap of one version":  {row(t, p, lowest, 5, "a", 1, 0), row(t, p, 0, highest, "a", 1, 0)},
		"end before beginning":    {row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, -5, "a", 1, 1), row(t, p, 0, highest, "a", 1, 2)},
		"newer row leaves a hole": {row(t, p, lowest, 10, "a", 1, 0), row(t, p, 0, 10, "b", 2, 0), row(t, p, 10, highest, "a", 1, 1)},
	} {
		if _, err := BuildChunks(p, rows); !errors.Is(err, ErrTorn) {
			t.Errorf("%s: error %v, want ErrTorn", name, err)
		}
	}
}

func TestBuildPrefersNewerRowsOfAReadDuringAChange(t *testing.T) {
	p := ranged(t)
	// The whole was read before the split, its halves after.
	m := mustBuild(t, p, row(t, p, lowest, highest, "a", 1, 0), row(t, p, lowest, 0, "a", 1, 1), row(t, p, 0, highest, "a", 1, 2))
	if m.Len() != 2 {
		t.Fatalf("%d chunks, want the two halves", m.Len())
	}
}

func TestApplyTellsWhatHappened(t *testing.T) {
	p := ranged(t)
	m := mustBuild(
		t,
		p,
		row(t, p, lowest, 0, "a", 1, 0),
		row(t, p, 0, 10, "a", 1, 1),
		row(t, p, 10, 20, "a", 1, 2),
		row(t, p, 20, highest, "b", 1, 3),
	)
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

func TestApplyRefusesRowsThatLeaveAGap(t *testing.T) {
	p := ranged(t)
	m := mustBuild(t, p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "a", 1, 1), row(t, p, 10, highest, "a", 1, 2))
	if _, _, err := m.Apply([]Chunk{row(t, p, 0, 5, "a", 1, 3)}); !errors.Is(err, ErrTorn) {
		t.Fatalf("error %v, want ErrTorn", err)
	}
}

func TestReflagTakesFlagsAndFindsWhatWasMissed(t *testing.T) {
	p := ranged(t)
	m := mustBuild(t, p, row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, highest, "a", 1, 1))
	jumbo := row(t, p, 0, highest, "a", 1, 1)
	jumbo.Jumbo = true
	next, missed := m.Reflag([]Chunk{jumbo})
	if missed || next.Jumbo() != 1 || m.Jumbo() != 0 || next.Highest() != m.Highest() {
		t.Fatalf("missed %t, jumbo %d (before %d)", missed, next.Jumbo(), m.Jumbo())
	}
	if _, missed := m.Reflag([]Chunk{row(t, p, 0, highest, "b", 9, 0)}); missed {
		t.Error("a row newer than the whole map is the routing poll's business")
	}
	if _, missed := m.Reflag([]Chunk{row(t, p, lowest, 0, "b", 1, 1)}); !missed {
		t.Error("a row that the map should have must be noticed")
	}
}

// world is the reference: a plain sorted list changed by the server's rules.
type world struct {
	p     shardkey.Pattern
	cuts  []int64 // lower bounds
	rows  []Chunk
	major uint32
	minor uint32
}

func (w *world) write(t testing.TB, from, to int, shards []string, cuts []int64, owner []string) {
	end := highest
	if to < len(w.cuts) {
		end = w.cuts[to]
	}
	var rows []Chunk
	for i, c := range cuts {
		hi := end
		if i+1 < len(cuts) {
			hi = cuts[i+1]
		}
		rows = append(rows, row(t, w.p, c, hi, owner[i], w.major, w.minor))
		w.minor++
	}
	w.cuts = slices.Replace(w.cuts, from, to, cuts...)
	w.rows = slices.Replace(w.rows, from, to, rows...)
}

// step does one random split, merge or move as the server would.
func (w *world) step(t testing.TB, n func(int) int, shards []string) {
	i := n(len(w.rows))
	switch n(3) {
	case 0: // split
		lo, hi := w.cuts[i], int64(1<<40)
		if i+1 < len(w.cuts) {
			hi = w.cuts[i+1]
		}
		if lo == lowest {
			lo = -1 << 40
		}
		if hi-lo < 2 {
			return
		}
		w.write(t, i, i+1, shards, []int64{w.cuts[i], lo + 1 + int64(n(int(min(hi-lo-1, 1<<30))))}, []string{w.rows[i].Shard, w.rows[i].Shard})
	case 1: // merge with neighbours of the same shard
		j := i
		for j < len(w.rows) && w.rows[j].Shard == w.rows[i].Shard && j-i < 5 {
			j++
		}
		if j-i < 2 {
			return
		}
		w.write(t, i, j, shards, []int64{w.cuts[i]}, []string{w.rows[i].Shard})
	case 2: // move, with the donor's first other chunk as control
		to := shards[n(len(shards))]
		from := w.rows[i].Shard
		if to == from {
			return
		}
		w.major, w.minor = w.major+1, 0
		w.write(t, i, i+1, shards, []int64{w.cuts[i]}, []string{to})
		for j := range w.rows {
			if w.rows[j].Shard == from {
				w.write(t, j, j+1, shards, []int64{w.cuts[j]}, []string{from})
				break
			}
		}
	}
}

// since is what an incremental read of the world returns.
func (w *world) since(v Version) []Chunk {
	var out []Chunk
	for _, r := range w.rows {
		if !r.Version.Less(v) {
			out = append(out, r)
		}
	}
	return out
}

func TestIncrementalReadsEqualFullLoads(t *testing.T) {
	shards := []string{"a", "b", "c", "d"}
	rapid.Check(t, func(rt *rapid.T) {
		p := ranged(t)
		w := &world{p: p, cuts: []int64{lowest}, rows: []Chunk{row(t, p, lowest, highest, "a", 1, 0)}, major: 1, minor: 1}
		n := func(k int) int { return rapid.IntRange(0, k-1).Draw(rt, "n") }
		m := mustBuild(t, p, w.rows...)
		for range rapid.IntRange(1, 12).Draw(rt, "polls") {
			for range rapid.IntRange(0, 8).Draw(rt, "steps") {
				w.step(t, n, shards)
			}
			next, _, err := m.Apply(w.since(m.Highest()))
			if err != nil {
				rt.Fatal(err)
			}
			full := mustBuild(t, p, w.rows...)
			if !next.Equal(full) {
				rt.Fatalf("incremental map has %d chunks at %s, full load %d at %s", next.Len(), next.Highest(), full.Len(), full.Highest())
			}
			m = next
		}
	})
}

// The same law on maps of many buckets, so that splitting, joining and sharing
// of buckets takes part, and every former map stays what it was.
func TestLargeMapsStayEqualAndOldOnesUntouched(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	p := ranged(t)
	shards := []string{"a", "b", "c"}
	w := &world{p: p, major: 1}
	for i := range int64(3000) {
		lo := i * 1000
		if i == 0 {
			lo = lowest
		}
		w.cuts = append(w.cuts, lo)
	}
	for i, lo := range w.cuts {
		hi := highest
		if i+1 < len(w.cuts) {
			hi = w.cuts[i+1]
		}
		w.rows = append(w.rows, row(t, p, lo, hi, shards[rng.IntN(3)], 1, w.minor))
		w.minor++
	}
	m := mustBuild(t, p, w.rows...)
	first, before := m, slices.Clone(w.rows)
	for round := range 60 {
		steps := 1 + rng.IntN(40)
		for range steps {
			w.step(t, rng.IntN, shards)
		}
		if round%10 == 9 { // a merge over many buckets
			i := rng.IntN(len(w.rows) - 1)
			j := min(i+1+rng.IntN(1500), len(w.rows))
			w.write(t, i, j, shards, []int64{w.cuts[i]}, []string{"a"})
		}
		next, _, err := m.Apply(w.since(m.Highest()))
		if err != nil {
			t.Fatal(err)
		}
		if full := mustBuild(t, p, w.rows...); !next.Equal(full) {
			t.Fatalf("round %d: %d chunks, want %d", round, next.Len(), full.Len())
		}
		m = next
	}
	if !first.Equal(mustBuild(t, p, before...)) {
		t.Fatal("an old map changed")
	}
	for i, c := range m.All() {
		if j, d := m.Find(c.Min); j != i || !sameChunk(c, d) || m.Owner(i) != c.Shard {
			t.Fatalf("position %d is found at %d", i, j)
		}
	}
}
