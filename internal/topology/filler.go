package topology

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// filler writes chunks in key order into buckets of at most limit chunks.
type filler struct {
	limit    int
	total    int   // chunks added
	keyBytes int64 // of their lower bounds
	done     []*bucket
	arena    strings.Builder
	ends     []uint32 // of the open bucket
	cur      *bucket
}

// newFiller prepares for buckets of at most limit chunks.
func newFiller(limit int) *filler { return &filler{limit: limit} }

func (f *filler) open(arenaBytes int) {
	f.cur = &bucket{
		shards:   make([]uint16, 0, f.limit),
		versions: make([]Version, 0, f.limit),
		since:    make([]bson.Timestamp, 0, f.limit),
	}
	if f.ends == nil {
		f.ends = make([]uint32, 0, 2*f.limit)
	}
	f.arena.Grow(arenaBytes)
}

// uniform is the size of every bound if they are alike and have no type bits,
// else 0.
func uniform(ends []uint32) uint32 {
	width := ends[0]
	for i := 0; i < len(ends); i += 2 {
		if want := uint32(i/2+1) * width; ends[i] != want || ends[i+1] != want {
			return 0
		}
	}
	return width
}

func (f *filler) seal() {
	if f.cur == nil || f.cur.len() == 0 {
		return
	}
	f.cur.arena = f.arena.String()
	if f.arena.Cap() > len(f.cur.arena)*9/8 { // it grew by doubling
		f.cur.arena = strings.Clone(f.cur.arena)
	}
	f.arena.Reset()
	if f.cur.width = uniform(f.ends); f.cur.width == 0 {
		f.cur.ends = slices.Clone(f.ends)
	}
	f.ends = f.ends[:0]
	f.done = append(f.done, f.cur)
	f.cur = nil
}

// addKey is add for a bound that is a key already.
func (f *filler) addKey(min shardkey.Key, shard uint16, v Version, since bson.Timestamp, jumbo bool) {
	f.room(len(min.Encoded()) + len(min.Bits()))
	f.arena.WriteString(min.Encoded())
	at := f.arena.Len()
	f.arena.WriteString(min.Bits())
	f.append(at, shard, v, since, jumbo)
}

// add appends a chunk by its lower bound.
func (f *filler) add(min Bound, shard uint16, v Version, since bson.Timestamp, jumbo bool) {
	f.room(len(min.Encoded) + len(min.Bits))
	f.arena.Write(min.Encoded)
	at := f.arena.Len()
	f.arena.Write(min.Bits)
	f.append(at, shard, v, since, jumbo)
}

// room opens a bucket, for bounds of about this size, unless one is open.
func (f *filler) room(size int) {
	f.keyBytes += int64(size)
	if f.cur == nil {
		f.open(f.limit * size)
	}
}

// append adds the columns of a chunk whose bound was written: its encoding up to at, then
// its type bits.
func (f *filler) append(at int, shard uint16, v Version, since bson.Timestamp, jumbo bool) {
	b := f.cur
	f.total++
	f.ends = append(f.ends, uint32(at), uint32(f.arena.Len()))
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
		lo, _ := o.span(from)
		shift := uint32(f.arena.Len()) - lo // wraps around when negative, and back on adding
		f.arena.WriteString(o.arena[lo:o.end(from+n-1)])
		for i := from; i < from+n; i++ {
			_, to := o.span(i)
			f.ends = append(f.ends, to+shift, o.end(i)+shift)
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
