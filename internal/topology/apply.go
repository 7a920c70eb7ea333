package topology

import (
	"slices"
	"sort"
	"strings"
)

// edit replaces positions [from, to) of a map by the chunks in insert, which
// cover exactly the same keys.
type edit struct {
	from, to int
	insert   []Chunk
	min, max string // encoded ends of the rows read
}

// Apply makes the map that follows from rows read later, in any order: each
// row takes the place of every chunk that it overlaps, and of rows the newer
// wins. This is how mongos applies an incremental read, and why a merge needs
// no tombstone. It also says what changed, without the namespace.
//
// The result is the same map when nothing is new. Only the buckets that changed
// are copied. The error is ErrTorn when the rows leave a gap or overlap; then
// the collection must be read again in full. The slice is reordered.
func (m *ChunkMap) Apply(rows []Chunk) (*ChunkMap, []Change, error) {
	if err := sortRows(rows); err != nil {
		return nil, nil, err
	}
	rows = slices.DeleteFunc(rows, m.holds)
	if len(rows) == 0 {
		return m, nil, nil
	}
	edits, err := m.edits(rows)
	if err != nil {
		return nil, nil, err
	}
	var changes []Change
	for i := range edits {
		changes = m.describe(&edits[i], changes)
	}
	return m.rebuild(edits), changes, nil
}

// Reflag takes over the jumbo flags of rows that are otherwise exactly chunks
// of the map. A row that is not (the map knows better, or the row does) is
// left alone, and missed tells that some row is of a version the map should
// have but has not: then the map is wrong and must be read again in full.
func (m *ChunkMap) Reflag(rows []Chunk) (next *ChunkMap, missed bool) {
	var changed []Chunk
	for _, r := range rows {
		_, c := m.Find(r.Min)
		switch {
		case c.Version == r.Version && c.Min.Compare(r.Min) == 0 && c.Max.Compare(r.Max) == 0 && c.Shard == r.Shard:
			if c.Jumbo != r.Jumbo {
				c.Jumbo = r.Jumbo
				changed = append(changed, c)
			}
		case c.Version.Less(r.Version) && !m.highest.Less(r.Version):
			missed = true
		}
	}
	next, _, err := m.Apply(changed)
	if err != nil {
		return m, true
	}
	return next, missed
}

// holds tells whether the map has exactly this row.
func (m *ChunkMap) holds(r Chunk) bool {
	_, c := m.Find(r.Min)
	return sameChunk(c, r)
}

// edits turns sorted rows into replacements in key order that share no chunk.
func (m *ChunkMap) edits(rows []Chunk) ([]edit, error) {
	var edits []edit
	for i := range rows {
		lo, hi := rows[i].Min.Encoded(), rows[i].Max.Encoded()
		if n := len(edits); n > 0 && lo <= edits[n-1].max {
			edits[n-1].max = max(edits[n-1].max, hi)
			continue
		}
		edits = append(edits, edit{min: lo, max: hi})
	}
	// Positions: ranges that meet the same chunk become one edit.
	merged := edits[:0]
	for _, e := range edits {
		e.from, e.to = m.span(e.min, e.max)
		if n := len(merged); n > 0 && e.from < merged[n-1].to {
			merged[n-1].to, merged[n-1].max = max(e.to, merged[n-1].to), e.max
			continue
		}
		merged = append(merged, e)
	}
	alive, err := survivors(rows)
	if err != nil {
		return nil, err
	}
	for i := range merged {
		e := &merged[i]
		n := sort.Search(len(alive), func(i int) bool { return alive[i].Min.Encoded() >= e.max })
		e.insert, alive = alive[:n], alive[n:]
		if err := contiguous(e.insert, m.At(e.from).Min, m.At(e.to-1).Max); err != nil {
			return nil, err
		}
	}
	return merged, nil
}

// span is Overlap on encoded ends of a range that is not empty.
func (m *ChunkMap) span(lo, hi string) (from, to int) {
	b, o := m.position(lo)
	from = int(m.starts[b]) + o
	b, o = m.position(hi)
	to = int(m.starts[b]) + o
	if strings.Compare(m.buckets[b].encoded(o), hi) < 0 {
		to++
	}
	return from, max(to, from+1)
}
