package topology

import (
	"iter"
	"slices"
	"sort"

	"shardboard/internal/shardkey"
)

// ChunkMap is the ordered chunk table of one collection: immutable, complete
// from the pattern's global minimum to its global maximum, without gap or
// overlap. A changed map shares every bucket that did not change with its
// predecessor. Safe for concurrent use.
type ChunkMap struct {
	pattern shardkey.Pattern
	max     shardkey.Key
	buckets []*bucket
	starts  []int32 // position of each bucket's first chunk
	length  int
	names   []string // shards, in order of first appearance
	counts  []int    // chunks by shard, parallel to names
	jumbo   int
	highest Version
}

// Len is the number of chunks.
func (m *ChunkMap) Len() int {
	if m == nil {
		return 0
	}
	return m.length
}

// Pattern is the shard key pattern that the keys of this map follow.
func (m *ChunkMap) Pattern() shardkey.Pattern { return m.pattern }

// Highest is the collection's version: the greatest of its chunks'.
func (m *ChunkMap) Highest() Version { return m.highest }

// locate finds bucket and offset of a position; the position must exist.
func (m *ChunkMap) locate(i int) (int, int) {
	b := sort.Search(len(m.starts), func(b int) bool { return int(m.starts[b]) > i }) - 1
	return b, i - int(m.starts[b])
}

// At is the chunk at a position in key order; the position must be in [0, Len).
func (m *ChunkMap) At(i int) Chunk {
	b, o := m.locate(i)
	return m.chunk(b, o)
}

func (m *ChunkMap) chunk(bi, o int) Chunk {
	b := m.buckets[bi]
	c := Chunk{
		Min: b.min(o), Max: m.max,
		Shard: m.names[b.shards[o]], Version: b.versions[o], Since: b.since[o], Jumbo: b.isJumbo(o),
	}
	if o+1 < b.len() {
		c.Max = b.min(o + 1)
	} else if bi+1 < len(m.buckets) {
		c.Max = m.buckets[bi+1].min(0)
	}
	return c
}

// position is the chunk that holds a key, as bucket and offset, in O(log n).
func (m *ChunkMap) position(enc string) (int, int) {
	bi := sort.Search(len(m.buckets), func(i int) bool { return m.buckets[i].encoded(0) > enc }) - 1
	if bi < 0 {
		return 0, 0
	}
	return bi, max(m.buckets[bi].after(enc)-1, 0)
}

// Find gives position and content of the chunk that holds k, in O(log n). The
// global maximum itself belongs to the last chunk here, as mongos routes it.
func (m *ChunkMap) Find(k shardkey.Key) (int, Chunk) {
	return m.FindEncoded(k.Encoded())
}

// Overlap gives the positions [from, to) of the chunks that meet r, in
// O(log n). An empty range meets none.
func (m *ChunkMap) Overlap(r shardkey.Range) (from, to int) {
	if m.Len() == 0 {
		return 0, 0
	}
	b, o := m.position(r.Min.Encoded())
	from = int(m.starts[b]) + o
	if r.Max.Encoded() <= r.Min.Encoded() {
		return from, from
	}
	b, o = m.position(r.Max.Encoded())
	to = int(m.starts[b]) + o
	if m.buckets[b].encoded(o) < r.Max.Encoded() {
		to++
	}
	return from, to
}

// Owner is the shard of the chunk at a position, without decoding its bounds.
func (m *ChunkMap) Owner(i int) string {
	b, o := m.locate(i)
	return m.names[m.buckets[b].shards[o]]
}

// All yields positions and chunks in key order.
func (m *ChunkMap) All() iter.Seq2[int, Chunk] { return m.Range(0, m.Len()) }

// Range yields positions [from, to) and their chunks in key order. It costs
// O(log n) once and a constant per chunk.
func (m *ChunkMap) Range(from, to int) iter.Seq2[int, Chunk] {
	return func(yield func(int, Chunk) bool) {
		if from >= to {
			return
		}
		b, o := m.locate(from)
		for i := from; i < to; i++ {
			if !yield(i, m.chunk(b, o)) {
				return
			}
			if o++; o == m.buckets[b].len() {
				b, o = b+1, 0
			}
		}
	}
}

// CountByShard is the number of chunks of each shard that has any. It is kept
// with the map, not counted on call; the returned map is the caller's.
func (m *ChunkMap) CountByShard() map[string]int {
	out := make(map[string]int, m.shards())
	if m == nil {
		return out
	}
	for i, n := range m.counts {
		if n > 0 {
			out[m.names[i]] = n
		}
	}
	return out
}

func (m *ChunkMap) shards() int {
	if m == nil {
		return 0
	}
	return len(m.names)
}

// Jumbo is the number of chunks that carry the jumbo flag.
func (m *ChunkMap) Jumbo() int {
	if m == nil {
		return 0
	}
	return m.jumbo
}

// Equal tells whether both maps say the same of every chunk: bounds, shard,
// version, since and flag.
func (m *ChunkMap) Equal(o *ChunkMap) bool {
	if m == o {
		return true
	}
	if m.Len() != o.Len() || m == nil || o == nil || m.jumbo != o.jumbo || m.highest != o.highest {
		return false
	}
	next, stop := iter.Pull2(o.All())
	defer stop()
	for _, a := range m.All() {
		if _, b, ok := next(); !ok || !sameChunk(a, b) {
			return false
		}
	}
	return true
}

func sameChunk(a, b Chunk) bool {
	return a.Min.Compare(b.Min) == 0 && a.Max.Compare(b.Max) == 0 && a.Shard == b.Shard &&
		a.Version == b.Version && a.Since == b.Since && a.Jumbo == b.Jumbo
}

// shardIndex is the small number that stands for a shard in the columns.
func (m *ChunkMap) shardIndex(name string) uint16 {
	if i := slices.Index(m.names, name); i >= 0 {
		return uint16(i)
	}
	m.names = append(m.names, name)
	m.counts = append(m.counts, 0)
	return uint16(len(m.names) - 1)
}

// FindEncoded is Find by an encoded key.
func (m *ChunkMap) FindEncoded(enc string) (int, Chunk) {
	if m.Len() == 0 {
		return -1, Chunk{}
	}
	b, o := m.position(enc)
	return int(m.starts[b]) + o, m.chunk(b, o)
}

// Owners yields positions and the shards that own them, in key order, without
// decoding bounds.
func (m *ChunkMap) Owners() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		if m == nil {
			return
		}
		i := 0
		for _, b := range m.buckets {
			for _, s := range b.shards {
				if !yield(i, m.names[s]) {
					return
				}
				i++
			}
		}
	}
}
