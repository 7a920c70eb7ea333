package topology

import (
	"sort"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// bucketTarget is how many chunks a bucket aims to hold. Larger buckets make a
// change copy more, smaller ones make the list of buckets longer, which every
// change copies too; 500 is near the minimum for a million chunks.
const bucketTarget = 500

// bucket is an immutable run of neighbouring chunks, one column per field.
// Only the lower bounds are kept: in a contiguous map the upper bound of a
// chunk is the lower bound of the next one.
type bucket struct {
	arena    string   // encoding and type bits of every lower bound, one after the other
	ends     []uint32 // two per chunk: where its encoding and where its type bits end
	shards   []uint16 // index into ChunkMap.names
	versions []Version
	since    []bson.Timestamp
	jumbo    []uint64 // bit set; nil when the bucket has none
}

func (b *bucket) len() int { return len(b.shards) }

func (b *bucket) start(i int) uint32 {
	if i == 0 {
		return 0
	}
	return b.ends[2*i-1]
}

func (b *bucket) encoded(i int) string { return b.arena[b.start(i):b.ends[2*i]] }

func (b *bucket) min(i int) shardkey.Key {
	return shardkey.FromParts(b.encoded(i), b.arena[b.ends[2*i]:b.ends[2*i+1]])
}

func (b *bucket) isJumbo(i int) bool {
	return b.jumbo != nil && b.jumbo[i/64]&(1<<(i%64)) != 0
}

// after is the position of the first chunk whose lower bound is greater than enc.
func (b *bucket) after(enc string) int {
	return sort.Search(b.len(), func(i int) bool { return b.encoded(i) > enc })
}

// filler writes chunks in key order into buckets of at most limit chunks.
type filler struct {
	limit int
	done  []*bucket
	arena strings.Builder
	cur   *bucket
}

// newFiller prepares for rows chunks in buckets of at most limit.
func newFiller(limit int) *filler { return &filler{limit: limit} }

func (f *filler) open(arenaBytes int) {
	f.cur = &bucket{
		ends:     make([]uint32, 0, 2*f.limit),
		shards:   make([]uint16, 0, f.limit),
		versions: make([]Version, 0, f.limit),
		since:    make([]bson.Timestamp, 0, f.limit),
	}
	f.arena.Grow(arenaBytes)
}

func (f *filler) seal() {
	if f.cur == nil || f.cur.len() == 0 {
		return
	}
	f.cur.arena = f.arena.String()
	f.arena.Reset()
	f.done = append(f.done, f.cur)
	f.cur = nil
}

func (f *filler) add(min shardkey.Key, shard uint16, v Version, since bson.Timestamp, jumbo bool) {
	if f.cur == nil {
		f.open(f.limit * (len(min.Encoded()) + len(min.Bits())))
	}
	b := f.cur
	f.arena.WriteString(min.Encoded())
	b.ends = append(b.ends, uint32(f.arena.Len()))
	f.arena.WriteString(min.Bits())
	b.ends = append(b.ends, uint32(f.arena.Len()))
	f.mark(jumbo)
	b.shards = append(b.shards, shard)
	b.versions = append(b.versions, v)
	b.since = append(b.since, since)
	if b.len() == f.limit {
		f.seal()
	}
}

// mark sets the jumbo bit of the chunk about to be appended.
func (f *filler) mark(jumbo bool) {
	if !jumbo {
		return
	}
	b := f.cur
	if b.jumbo == nil {
		b.jumbo = make([]uint64, (f.limit+63)/64)
	}
	i := b.len()
	b.jumbo[i/64] |= 1 << (i % 64)
}

// copy appends chunks [from, to) of another bucket, column by column.
func (f *filler) copy(o *bucket, from, to int) {
	for from < to {
		if f.cur == nil {
			f.open(len(o.arena) + len(o.arena)/8)
		}
		b := f.cur
		n := min(to-from, f.limit-b.len())
		lo := o.start(from)
		shift := uint32(f.arena.Len()) - lo // wraps around when negative, and back on adding
		f.arena.WriteString(o.arena[lo:o.ends[2*(from+n)-1]])
		for _, e := range o.ends[2*from : 2*(from+n)] {
			b.ends = append(b.ends, e+shift)
		}
		if o.jumbo != nil {
			for i := range n {
				if o.isJumbo(from + i) {
					if b.jumbo == nil {
						b.jumbo = make([]uint64, (f.limit+63)/64)
					}
					at := b.len() + i
					b.jumbo[at/64] |= 1 << (at % 64)
				}
			}
		}
		b.shards = append(b.shards, o.shards[from:from+n]...)
		b.versions = append(b.versions, o.versions[from:from+n]...)
		b.since = append(b.since, o.since[from:from+n]...)
		from += n
		if b.len() == f.limit {
			f.seal()
		}
	}
}
