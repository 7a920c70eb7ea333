package auth

import (
	"fmt"
	"time"
)

const sweepEvery = time.Second // looking through all buckets is not free

// bucket is an allowance that fills again: most attempts at once, and one more
// each time that each has passed. It is not x/time/rate because an attempt that
// turned out right is given back later, which a Limiter cannot do.
type bucket struct {
	full time.Time // when nothing of it is used any more
	each time.Duration
	most int
	told bool // the present refusal is recorded
}

// refuses says how long it is until an attempt can be taken, 0 for now. first
// tells that it says so for the first time since one was taken.
func (b *bucket) refuses(now time.Time) (wait time.Duration, first bool) {
	wait = b.after(now).Sub(now) - time.Duration(b.most)*b.each
	if wait <= 0 {
		return 0, false
	}
	first, b.told = !b.told, true
	return wait, first
}

// take uses one attempt.
func (b *bucket) take(now time.Time) { b.full, b.told = b.after(now), false }

// after is when it would be full again after one attempt more. A bucket that
// would take longer than an empty one was used before the clock was set back: it
// counts as full, so that nobody waits until the time comes again. Clocks with a
// monotonic reading, as time.Now has, never get there.
func (b *bucket) after(now time.Time) time.Time {
	if b.full.Sub(now) > time.Duration(b.most)*b.each {
		b.full = now
	}
	if b.full.After(now) {
		now = b.full
	}
	return now.Add(b.each)
}

// shelf keeps buckets by name, a bounded number of them.
type shelf struct {
	most    int
	buckets map[string]*bucket
	swept   time.Time
}

// bucket finds or makes one. Full ones are forgotten, for a new one is full
// too; when even then there are too many, all newcomers of a size share one.
func (s *shelf) bucket(key string, perMinute int, now time.Time) *bucket {
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
	b := &bucket{each: time.Minute / time.Duration(perMinute), most: perMinute}
	if s.buckets == nil {
		s.buckets = map[string]*bucket{}
	}
	s.buckets[key] = b
	return b
}

// giveBack returns an attempt to a bucket, if it is still kept.
func (s *shelf) giveBack(key string) {
	if b := s.buckets[key]; b != nil {
		b.full = b.full.Add(-b.each)
	}
}
