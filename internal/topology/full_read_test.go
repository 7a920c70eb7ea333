package topology

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"
	"time"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

// mutate does one random split, move or merge, as a config server does.
func (c *fakeColl) mutate(t testing.TB, rng *rand.Rand, shards []Shard) {
	v := c.highest()
	i := rng.IntN(len(c.rows))
	r := c.rows[i]
	switch rng.IntN(3) {
	case 0: // split in two at a new key
		at := row(t, c.meta.Key, rng.Int64N(2_000_000)-1_000_000, highest, "x", 1, 1).Min
		i, _ = slices.BinarySearchFunc(c.rows, at, func(r Chunk, k shardkey.Key) int { return r.Max.Compare(k) })
		if r = c.rows[i]; r.Min.Compare(at) >= 0 || r.Max.Compare(at) <= 0 {
			return
		}
		left, right := r, r
		left.Max, right.Min = at, at
		left.Version, right.Version = Version{v.Major, v.Minor + 1}, Version{v.Major, v.Minor + 2}
		c.rows = slices.Replace(c.rows, i, i+1, left, right)
	case 1:
		c.move(i, shards[rng.IntN(len(shards))].Name)
	case 2:
		if i+1 < len(c.rows) && c.rows[i].Shard == c.rows[i+1].Shard {
			r.Max, r.Version = c.rows[i+1].Max, Version{v.Major, v.Minor + 1}
			c.rows = slices.Replace(c.rows, i, i+2, r)
		}
	}
}

// A full read goes on while chunks are split, moved and merged behind and before it. It
// must end with the table of the cluster, in the first turn, and later turns must miss
// nothing of what happened during the read.
func TestFullReadOfACollectionThatChangesMeanwhile(t *testing.T) {
	for seed := range uint64(25) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			rng := rand.New(rand.NewPCG(seed, 1))
			f := newFake(t)
			cuts := make([]int64, 0, 700)
			for i := range int64(700) {
				cuts = append(cuts, i*1000-350_000)
			}
			c := f.add("db.x", 1, cuts...)
			f.afterRow = func(Namespace, int) {
				for rng.IntN(4) == 0 {
					c.mutate(t, rng, f.shards)
				}
			}
			check := func(w *Watcher) {
				t.Helper()
				if got := w.Table().Collection("db.x"); got == nil || w.Table().Health[PartRouting].Err != nil {
					t.Fatalf("not loaded: %v", w.Table().Health[PartRouting].Err)
				} else if want, err := BuildChunks(c.meta.Key, slices.Clone(c.rows)); err != nil || !got.Chunks.Equal(want) {
					t.Fatalf("%d chunks, want %d; %v", got.Chunks.Len(), want.Len(), err)
				}
			}
			withWatcher(t, f, Options{}, func(w *Watcher) {
				check(w)
				expect.Equal(t, f.count("AllChunks"), 1, "full reads")
				f.change(func() { c.mutate(t, rng, f.shards) })
				wait(2 * time.Second)
				check(w)
			})
		})
	}
}

func TestFullReadRefusesWhatIsNoTable(t *testing.T) {
	p := ranged(t)
	whole := []Chunk{row(t, p, lowest, 0, "a", 1, 0), row(t, p, 0, 10, "b", 1, 1), row(t, p, 10, highest, "c", 1, 2)}
	with := func(c ...Chunk) []Chunk {
		all := slices.Concat(whole, c)
		slices.SortStableFunc(all, func(a, b Chunk) int { return a.Min.Compare(b.Min) })
		return all
	}
	for _, tc := range []struct {
		what    string
		rows    []Chunk
		changed []Chunk
		chunks  int // 0: torn
	}{
		{"all", whole, nil, 3},
		{"none", nil, nil, 0},
		{"no first", whole[1:], nil, 0},
		{"no last", whole[:2], nil, 0},
		{"a gap", []Chunk{whole[0], whole[2]}, nil, 0},
		{"a gap that a change fills", []Chunk{whole[0], whole[2]}, []Chunk{row(t, p, 0, 10, "a", 2, 0)}, 3},
		{"a gap that a change fills by a half", []Chunk{whole[0], whole[2]}, []Chunk{row(t, p, 0, 5, "a", 2, 0)}, 0},
		{"a split of which both sides were read", []Chunk{row(t, p, lowest, highest, "a", 1, 0), row(t, p, lowest, 0, "a", 1, 1),
			row(t, p, 0, highest, "a", 1, 2)}, []Chunk{row(t, p, lowest, 0, "a", 1, 1), row(t, p, 0, highest, "a", 1, 2)}, 2},
		{"a row without keys", with(row(t, p, 5, 5, "a", 1, 3)), nil, 0},
		{"an old row inside of another", with(row(t, p, 2, 5, "a", 0, 9)), nil, 3},
		{"a new row inside of another", with(row(t, p, 2, 5, "a", 1, 9)), nil, 0},
		{"a new row over two others", with(row(t, p, 5, 15, "a", 1, 9)), nil, 0},
		{"one that what changed explains", with(row(t, p, 5, 15, "a", 1, 9)),
			[]Chunk{row(t, p, 0, 5, "a", 1, 8), row(t, p, 5, 15, "a", 1, 9), row(t, p, 15, highest, "a", 1, 10)}, 4},
	} {
		t.Run(tc.what, func(t *testing.T) {
			r := NewChunkBuilder(p)
			var err error
			for i := 0; i < len(tc.rows) && err == nil; i++ {
				err = r.Add(rowOf(tc.rows[i]))
			}
			var m *ChunkMap
			if err == nil {
				m, err = r.Finish(tc.changed)
			}
			// Rows that were read in any order, and of which a read has all, are no other table.
			shuffled := slices.Clone(tc.rows)
			slices.Reverse(shuffled)
			if atOnce, failed := BuildChunks(p, shuffled); tc.changed == nil && (failed != nil) != (err != nil) ||
				failed == nil && err == nil && tc.changed == nil && !atOnce.Equal(m) {
				t.Errorf("at once: %d chunks, %v; row by row %d, %v", atOnce.Len(), failed, m.Len(), err)
			}
			if (err != nil) != (tc.chunks == 0) || err != nil && !errors.Is(err, ErrTorn) || m.Len() != tc.chunks {
				t.Fatalf("%d chunks, %v; want %d", m.Len(), err, tc.chunks)
			}
			if err != nil {
				return
			}
			n := 0
			for _, c := range m.CountByShard() {
				n += c
			}
			if n != m.Len() || contiguous(m.Delta(nil), p.Min(), p.Max()) != nil {
				t.Errorf("%d chunks by shard, %d in all", n, m.Len())
			}
		})
	}
}

// A full read takes little more memory than the map that it makes: 30 bytes a chunk.
func TestFullReadAllocatesLittleMoreThanTheMap(t *testing.T) {
	const n = 100_000
	p := ranged(t)
	rows := make([]*ChunkRow, 0, n)
	lo := p.Min()
	for i := range int64(n) {
		hi := p.Max()
		if i+1 < n {
			hi = at(t, p, i*1000)
		}
		rows = append(rows, rowOf(Chunk{Min: lo, Max: hi, Shard: "a", Version: Version{1, uint32(i + 1)}}))
		lo = hi
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b := NewChunkBuilder(p)
	for _, row := range rows {
		must.Do(t, b.Add(row))
	}
	m, err := b.Finish(nil)
	runtime.ReadMemStats(&after)
	must.That(t, err == nil && m.Len() == n, "%d chunks, %v", m.Len(), err)
	if each := (after.TotalAlloc - before.TotalAlloc) / n; each > 45 {
		t.Errorf("%d bytes allocated for each chunk, want at most 45", each)
	}
}
