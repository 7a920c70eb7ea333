package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"shardboard/internal/fault"
)

const (
	accountPerMinute = 10 // attempts at one account
	addressPerMinute = 30 // attempts of one address at any account, wrong tokens and links too
	maxBuckets       = 10_000
	maxKnown         = 1_000
	sweepEvery       = time.Second // looking through all buckets is not free
)

// Error is for logs.
func (e *TooMany) Error() string { return fmt.Sprintf("too many attempts, wait %s", e.Wait) }

// Unwrap classifies it and gives the sentence.
func (e *TooMany) Unwrap() error {
	return fault.New(fault.Unavailable, "Too many attempts. Try again in %d s.", e.Seconds())
}

// Seconds is the wait, rounded up: the value of Retry-After.
func (e *TooMany) Seconds() int { return int((e.Wait + time.Second - 1) / time.Second) }

// limits are token buckets by account and by client address. An empty bucket
// fills again by itself, so nobody is locked out for good. An address from
// which an account was signed in to before has a bucket of its own for it:
// whoever guesses elsewhere does not keep its owner out.
type limits struct {
	now func() time.Time

	mu      sync.Mutex
	buckets map[string]*bucket
	known   map[string]time.Time // account and address to the last success
	swept   time.Time
}

type bucket struct {
	*rate.Limiter
	told bool // the present refusal is recorded
}

func newLimits(now func() time.Time) *limits {
	return &limits{now: now, buckets: map[string]*bucket{}, known: map[string]time.Time{}}
}

// attempt takes from both buckets, or says how long to wait. first tells that
// this is the first refusal since the last success of that bucket.
func (l *limits) attempt(account, from string) (wait time.Duration, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	key := "account " + account
	if _, ok := l.known[pair(account, from)]; ok {
		key = "known " + pair(account, from)
	}
	if wait, first = l.take("address "+network(from), addressPerMinute); wait > 0 {
		return wait, first
	}
	return l.take(key, accountPerMinute)
}

// wrong takes from the address's bucket alone: a token or link that is none.
func (l *limits) wrong(from string) (wait time.Duration, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.take("address "+network(from), addressPerMinute)
}

// succeeded remembers that the account's owner is at the address.
func (l *limits) succeeded(account, from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.known[pair(account, from)] = l.now()
	if len(l.known) > maxKnown {
		oldest := ""
		for k, at := range l.known {
			if oldest == "" || at.Before(l.known[oldest]) {
				oldest = k
			}
		}
		delete(l.known, oldest)
	}
}

func (l *limits) take(key string, perMinute int) (wait time.Duration, first bool) {
	now := l.now()
	b := l.bucket(key, perMinute, now)
	r := b.ReserveN(now, 1)
	if wait = r.DelayFrom(now); wait > 0 {
		r.CancelAt(now)
		first, b.told = !b.told, true
		return wait, first
	}
	b.told = false
	return 0, false
}

// bucket finds or makes one. Full ones are forgotten, for a new one is full
// too; when even then there are too many, all newcomers share one.
func (l *limits) bucket(key string, perMinute int, now time.Time) *bucket {
	if b := l.buckets[key]; b != nil {
		return b
	}
	if len(l.buckets) >= maxBuckets && now.Sub(l.swept) >= sweepEvery {
		l.swept = now
		for k, b := range l.buckets {
			if b.TokensAt(now) >= float64(b.Burst()) {
				delete(l.buckets, k)
			}
		}
	}
	if len(l.buckets) >= maxBuckets {
		key = "everybody else"
		if b := l.buckets[key]; b != nil {
			return b
		}
	}
	b := &bucket{Limiter: rate.NewLimiter(rate.Every(time.Minute/time.Duration(perMinute)), perMinute)}
	l.buckets[key] = b
	return b
}

func pair(account, from string) string { return account + " " + network(from) }

// network is the address, of IPv6 the /64 that one household or server has.
func network(from string) string {
	addr, err := netip.ParseAddr(from)
	if err != nil || addr.Unmap().Is4() {
		return from
	}
	prefix, err := addr.WithZone("").Prefix(64)
	if err != nil {
		return from
	}
	return prefix.String()
}
