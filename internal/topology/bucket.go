package topology

import (
	"sort"
	"sync/atomic"

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
	shards   []uint16 // index into ChunkMap.names
	arena    string   // encoding and type bits of every lower bound, one after the other
	width    uint32   // bytes of every bound, when all are alike and have no type bits: ObjectIDs, most hashes
	ends     []uint32 // two per chunk: where its encoding and where its type bits end; nil when width is set
	versions []Version
	since    []bson.Timestamp
	jumbo    []uint64 // bit set; nil when the bucket has none

	summed atomic.Pointer[bucketTally] // made when it is first needed
	hashes atomic.Pointer[[]uint64]    // likewise: hashBegins
}

func (b *bucket) len() int { return len(b.shards) }

// span is where the encoding of a lower bound begins and ends.
func (b *bucket) span(i int) (from, to uint32) {
	if b.width > 0 {
		from = uint32(i) * b.width
		return from, from + b.width
	}
	if i > 0 {
		from = b.ends[2*i-1]
	}
	return from, b.ends[2*i]
}

// end is where everything of a lower bound ends.
func (b *bucket) end(i int) uint32 {
	if b.width > 0 {
		return uint32(i+1) * b.width
	}
	return b.ends[2*i+1]
}

func (b *bucket) encoded(i int) string {
	from, to := b.span(i)
	return b.arena[from:to]
}

func (b *bucket) min(i int) shardkey.Key {
	from, to := b.span(i)
	return shardkey.FromParts(b.arena[from:to], b.arena[to:b.end(i)])
}

func (b *bucket) isJumbo(i int) bool {
	return b.jumbo != nil && b.jumbo[i/64]&(1<<(i%64)) != 0
}

// after is the position of the first chunk whose lower bound is greater than enc.
func (b *bucket) after(enc string) int {
	return sort.Search(b.len(), func(i int) bool { return b.encoded(i) > enc })
}
