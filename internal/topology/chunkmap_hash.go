package topology

import (
	"math"

	"shardboard/internal/shardkey"
)

// Where the shard key is one hashed field, chunks are found by number: the
// bounds are kept as int64 beside their encoding and searched without making a
// key. MD5 spreads hashes evenly, so that the place of a bound follows from its
// value but for a few chunks. Those are compared all at once: deciding one by
// one costs more, because the processor cannot foretell any decision.

// ByHash reports whether FindHash can find chunks: the pattern is one hashed
// field.
func (m *ChunkMap) ByHash() bool { return m != nil && m.hashed }

// FindHash is the position of the chunk that holds a hash, where the pattern
// is one hashed field; -1 in a map that is empty or of another pattern. It does
// not allocate.
func (m *ChunkMap) FindHash(h int64) int {
	if !m.ByHash() {
		return -1
	}
	b, o := m.hashPosition(h)
	return int(m.starts[b]) + o
}

// HashOwner is Owner(FindHash(h)); "" where that finds nothing. It does not
// allocate.
func (m *ChunkMap) HashOwner(h int64) string {
	if !m.ByHash() {
		return ""
	}
	b, o := m.hashPosition(h)
	return m.names[m.buckets[b].shards[o]]
}

func (m *ChunkMap) hashPosition(h int64) (b, o int) {
	if !m.numbers {
		// A bound that is no number: no server writes one, but bounds are read
		// from a database, and the encoded order is right for any.
		return m.position(shardkey.HashKey(h).Encoded())
	}
	b = gallop(m.heads, guess(len(m.heads), math.MinInt64, math.MaxInt64, h), h)
	hi := int64(math.MaxInt64)
	if b+1 < len(m.heads) {
		hi = m.heads[b+1]
	}
	return b, lastAtMost(m.buckets[b].hashes, m.heads[b], hi, h)
}

// guess is the position of h among n numbers that are spread evenly over
// [lo, hi], which it must lie in.
func guess(n int, lo, hi, h int64) int {
	width := half(lo, hi)
	if width == 0 {
		return 0
	}
	return min(int(half(lo, h)/width*float64(n)), n-1)
}

// half is half the way from one hash to another, which may be more than an
// int64 can hold.
func half(from, to int64) float64 { return float64(to>>1 - from>>1) }

// window is how many neighbours are compared at once: a cache line.
const window = 8

// lastAtMost is the position of the last number that is at most h, 0 if there
// is none; the numbers are sorted and lie, as h does, between lo and hi. Near
// an even spread it looks at a constant number of them, else at O(log n).
func lastAtMost(sorted []int64, lo, hi, h int64) int {
	n := len(sorted)
	at := guess(n, lo, hi, h)
	if n < window {
		return gallop(sorted, at, h)
	}
	// What random splits make of an even spread is a first guess that is off by
	// the square root of their number; from there, the second is off by the
	// square root of that.
	if width := half(lo, hi); width > 0 {
		at += int(half(sorted[at], h) / width * float64(n))
	}
	from := min(max(at-window/2+1, 0), n-window)
	w := (*[window]int64)(sorted[from:])
	found := one(w[0] <= h) + one(w[1] <= h) + one(w[2] <= h) + one(w[3] <= h) +
		one(w[4] <= h) + one(w[5] <= h) + one(w[6] <= h) + one(w[7] <= h)
	if found > 0 && found < window {
		return from + found - 1
	}
	return gallop(sorted, from+max(found-1, 0), h)
}

// one is a comparison as a number, without a branch to mispredict.
func one(yes bool) int {
	n := 0
	if yes {
		n = 1
	}
	return n
}

// gallop is the position of the last number that is at most h, 0 if there is
// none, sought in growing steps from at.
func gallop(sorted []int64, at int, h int64) int {
	last, step := len(sorted)-1, 1
	if sorted[at] > h {
		for at -= step; at > 0 && sorted[at] > h; at -= step {
			step <<= 1
		}
		at = max(at, 0)
	} else {
		for at+step <= last && sorted[at+step] <= h {
			at += step
			step <<= 1
		}
	}
	// The answer is less than a step ahead.
	for step >>= 1; step > 0; step >>= 1 {
		if at+step <= last && sorted[at+step] <= h {
			at += step
		}
	}
	return at
}
