package auth

import (
	"fmt"
	"time"
)

const sweepEvery = time.Second // a scan of all buckets is not free

// bucket is a token bucket: size attempts at once, refilled by one every refill. It is not x/time/rate because
// an attempt that succeeded is given back later, which a Limiter cannot do.
type bucket struct {
	full            time.Time // when it will be full again
	refill          time.Duration
	size            int
	refusalRecorded bool // the current refusal was recorded
}

// check returns how long to wait until an attempt is allowed, 0 if it is allowed now. first is
// true for the first refusal since an attempt was taken.
func (b *bucket) check(now time.Time) (wait time.Duration, first bool) {
	wait = b.fullAfterNext(now).Sub(now) - time.Duration(b.size)*b.refill
	if wait <= 0 {
		return 0, false
	}
	first, b.refusalRecorded = !b.refusalRecorded, true
	return wait, first
}

// take uses up one attempt.
func (b *bucket) take(now time.Time) { b.full, b.refusalRecorded = b.fullAfterNext(now), false }

// fullAfterNext is when the bucket would be full after one more attempt. If it would take longer to fill
// than an empty bucket, the clock was set back since its last use, and it counts as full; otherwise
// people would wait until the old time comes again. Times with a monotonic reading, as from
// time.Now, never get there.
func (b *bucket) fullAfterNext(now time.Time) time.Time {
	if b.full.Sub(now) > time.Duration(b.size)*b.refill {
		b.full = now
	}
	if b.full.After(now) {
		now = b.full
	}
	return now.Add(b.refill)
}

// bucketSet is a bounded set of buckets by key.
type bucketSet struct {
	most    int
	buckets map[string]*bucket
	swept   time.Time
}

// bucket finds or creates a bucket. Full buckets are dropped, since a new one is full too. When the
// set is still too large, all new keys with the same limit share one bucket.
func (s *bucketSet) bucket(key string, perMinute int, now time.Time) *bucket {
	if b := s.buckets[key]; b != nil {
		return b
	}
	if len(s.buckets) >= s.most && now.Sub(s.swept).Abs() >= sweepEvery {
		s.swept = now
		for k, b := range s.buckets {
			if !b.full.After(now) {
				delete(s.buckets, k)
			}
		}
	}
	if len(s.buckets) >= s.most {
		key = fmt.Sprintf("everybody else, %d", perMinute)
		if b := s.buckets[key]; b != nil {
			return b
		}
	}
	b := &bucket{refill: time.Minute / time.Duration(perMinute), size: perMinute}
	if s.buckets == nil {
		s.buckets = map[string]*bucket{}
	}
	s.buckets[key] = b
	return b
}

// giveBack returns an attempt to a bucket, if it is still there.
func (s *bucketSet) giveBack(key string) {
	if b := s.buckets[key]; b != nil {
		b.full = b.full.Add(-b.refill)
	}
}
