package topology

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

// referenceMap is a plain sorted list that is changed by the server's rules.
type referenceMap struct {
	p     shardkey.Pattern
	cuts  []int64 // lower bounds
	rows  []Chunk
	major uint32
	minor uint32
}

func (w *referenceMap) replace(t testing.TB, from, to int, shards []string, cuts []int64, owner []string) {
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

// randomChange does a random split, merge or move as the server would.
func (w *referenceMap) randomChange(t testing.TB, n func(int) int, shards []string) {
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
		w.replace(t, i, i+1, shards, []int64{w.cuts[i], lo + 1 + int64(n(int(min(hi-lo-1, 1<<30))))}, []string{w.rows[i].Shard, w.rows[i].Shard})
	case 1: // merge with neighbours of the same shard
		j := i
		for j < len(w.rows) && w.rows[j].Shard == w.rows[i].Shard && j-i < 5 {
			j++
		}
		if j-i < 2 {
			return
		}
		w.replace(t, i, j, shards, []int64{w.cuts[i]}, []string{w.rows[i].Shard})
	case 2: // move, with the donor's first other chunk as control
		to := shards[n(len(shards))]
		from := w.rows[i].Shard
		if to == from {
			return
		}
		w.major, w.minor = w.major+1, 0
		w.replace(t, i, i+1, shards, []int64{w.cuts[i]}, []string{to})
		for j := range w.rows {
			if w.rows[j].Shard == from {
				w.replace(t, j, j+1, shards, []int64{w.cuts[j]}, []string{from})
				break
			}
		}
	}
}

// changedSince is what an incremental read returns.
func (w *referenceMap) changedSince(v Version) []Chunk {
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
		w := &referenceMap{p: p, cuts: []int64{lowest}, rows: []Chunk{row(t, p, lowest, highest, "a", 1, 0)}, major: 1, minor: 1}
		n := func(k int) int { return rapid.IntRange(0, k-1).Draw(rt, "n") }
		m := mustBuild(p, w.rows...)
		for range rapid.IntRange(1, 12).Draw(rt, "polls") {
			for range rapid.IntRange(0, 8).Draw(rt, "steps") {
				w.randomChange(t, n, shards)
			}
			next, _, err := m.Apply(w.changedSince(m.Highest()))
			must.Do(rt, err)
			full := mustBuild(p, w.rows...)
			if !next.Equal(full) {
				rt.Fatalf("incremental map has %d chunks at %s, full load %d at %s", next.Len(), next.Highest(), full.Len(), full.Highest())
			}
			m = next
		}
	})
}

// Maps of many buckets also split, join and share buckets. Earlier maps must not
// change with them.
func TestLargeMapsEqualFullLoadsAndOldMapsStayUnchanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 7))
	p := ranged(t)
	shards := []string{"a", "b", "c"}
	w := &referenceMap{p: p, major: 1}
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
	m := mustBuild(p, w.rows...)
	first, before := m, slices.Clone(w.rows)
	for round := range 60 {
		steps := 1 + rng.IntN(40)
		for range steps {
			w.randomChange(t, rng.IntN, shards)
		}
		if round%10 == 9 { // a merge over many buckets
			i := rng.IntN(len(w.rows) - 1)
			j := min(i+1+rng.IntN(1500), len(w.rows))
			w.replace(t, i, j, shards, []int64{w.cuts[i]}, []string{"a"})
		}
		next, _, err := m.Apply(w.changedSince(m.Highest()))
		must.Do(t, err)
		if full := mustBuild(p, w.rows...); !next.Equal(full) {
			t.Fatalf("round %d: %d chunks, want %d", round, next.Len(), full.Len())
		}
		m = next
	}
	must.That(t, first.Equal(mustBuild(p, before...)), "an old map changed")
	for i, c := range m.All() {
		if j, d := m.Find(c.Min); j != i || !sameChunk(c, d) || m.Owner(i) != c.Shard {
			t.Fatalf("position %d is found at %d", i, j)
		}
	}
}
