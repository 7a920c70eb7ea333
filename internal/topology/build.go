package topology

import (
	"errors"
	"slices"
	"strings"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// ErrTorn says that rows do not form one consistent chunk table: they were
// read while the collection changed. Reading again is the remedy.
var ErrTorn = errors.New("chunks do not cover the key space exactly once")

func torn(format string, args ...any) error {
	return fault.Wrap(fault.Conflict, ErrTorn, format, args...)
}

// BuildChunks makes a map from a full read of a collection's chunks in any
// order. Rows that a row of a higher version overlaps are left out, as the
// server's own routing cache does, so that a split, merge or move in the middle
// of the read does no harm. The error is ErrTorn when the rest has a gap or an
// overlap. The slice is reordered.
func BuildChunks(p shardkey.Pattern, rows []Chunk) (*ChunkMap, error) {
	if err := sortRows(rows); err != nil {
		return nil, err
	}
	rows, err := survivors(rows)
	if err != nil {
		return nil, err
	}
	if err := contiguous(rows, p.Min(), p.Max()); err != nil {
		return nil, err
	}
	m := &ChunkMap{pattern: p, max: p.Max(), length: len(rows)}
	f := newFiller(evenly(len(rows)))
	for i := range rows {
		c := &rows[i]
		f.addKey(c.Min, m.take(c), c.Version, c.Since, c.Jumbo)
	}
	f.seal()
	m.adopt(f.done)
	return m, nil
}

// take counts a chunk in and gives its shard's number.
func (m *ChunkMap) take(c *Chunk) uint16 { return m.count(c.Shard, c.Version, c.Jumbo) }

func (m *ChunkMap) count(shard string, v Version, jumbo bool) uint16 {
	s := m.shardIndex(shard)
	m.counts[s]++
	if jumbo {
		m.jumbo++
	}
	if m.highest.Less(v) {
		m.highest = v
	}
	return s
}

// adopt sets the buckets, and the positions at which they begin.
func (m *ChunkMap) adopt(buckets []*bucket) {
	m.buckets = buckets
	m.starts = make([]int32, len(buckets))
	at := 0
	for i, b := range buckets {
		m.starts[i] = int32(at)
		at += b.len()
	}
	m.length = at
}

// evenly is the bucket size that spreads n chunks over full buckets.
func evenly(n int) int {
	k := max((n+bucketTarget-1)/bucketTarget, 1)
	return max((n+k-1)/k, 1)
}

// sortRows puts rows in key order, of equal lower bounds the newest first, and
// refuses rows that are no range.
func sortRows(rows []Chunk) error {
	for i := range rows {
		if rows[i].Min.Encoded() >= rows[i].Max.Encoded() {
			return torn("a chunk of version %s ends before it begins", rows[i].Version)
		}
	}
	slices.SortFunc(rows, func(a, b Chunk) int {
		if d := strings.Compare(a.Min.Encoded(), b.Min.Encoded()); d != 0 {
			return d
		}
		return b.Version.Compare(a.Version)
	})
	return nil
}

// maxEntangled bounds the rows of one knot of overlapping ranges, which is
// untied pair by pair. More than that in one read is not a race but damage.
const maxEntangled = 4096

// survivors leaves out every row that a newer row overlaps and the second copy
// of equal rows. The rows must be in key order; the result reuses their slice.
func survivors(rows []Chunk) ([]Chunk, error) {
	out := rows[:0]
	for i := 0; i < len(rows); {
		j, reach := i+1, rows[i].Max.Encoded()
		for j < len(rows) && rows[j].Min.Encoded() < reach {
			reach = max(reach, rows[j].Max.Encoded())
			j++
		}
		if j == i+1 {
			out = append(out, rows[i])
			i = j
			continue
		}
		if j-i > maxEntangled {
			return nil, torn("%d chunks overlap each other", j-i)
		}
		knot := slices.Clone(rows[i:j])
		for a := range knot {
			if !superseded(knot, a) {
				out = append(out, knot[a])
			}
		}
		i = j
	}
	return out, nil
}

func superseded(knot []Chunk, a int) bool {
	x := &knot[a]
	for b := range knot {
		y := &knot[b]
		if a == b || y.Min.Encoded() >= x.Max.Encoded() || x.Min.Encoded() >= y.Max.Encoded() {
			continue
		}
		if x.Version.Less(y.Version) || (b < a && x.Version == y.Version && y.Min.Compare(x.Min) == 0 && y.Max.Compare(x.Max) == 0) {
			return true
		}
	}
	return false
}

// contiguous checks that rows in key order cover [from, to) exactly once.
func contiguous(rows []Chunk, from, to shardkey.Key) error {
	at := from
	for i := range rows {
		switch d := at.Compare(rows[i].Min); {
		case d < 0:
			return torn("no chunk covers the keys before the chunk of version %s", rows[i].Version)
		case d > 0:
			return torn("the chunk of version %s overlaps the one before it", rows[i].Version)
		}
		at = rows[i].Max
	}
	if at.Compare(to) != 0 {
		return torn("the last of %d chunks does not reach the end of the key space", len(rows))
	}
	return nil
}
