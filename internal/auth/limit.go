package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"shardboard/internal/fault"
)

const (
	accountPerMinute   = 10 // attempts at one account
	addressPerMinute   = 30 // failed attempts from one address, at any account; other kinds of attempts have the same limit each
	maxBuckets         = 10_000
	maxKnown           = 1_000
	maxKnownPerAccount = 20 // known addresses of one account
)

// Error is the text for logs.
func (e *TooMany) Error() string { return fmt.Sprintf("too many attempts, wait %s", e.Wait) }

// Unwrap gives package fault the kind and the sentence for people.
func (e *TooMany) Unwrap() error {
	return fault.New(fault.Unavailable, "Too many attempts. Try again in %d s.", e.Seconds())
}

// Seconds is the wait for Retry-After, rounded up.
func (e *TooMany) Seconds() int { return int((e.Wait + time.Second - 1) / time.Second) }

// limits are rate limits by account and by client address. Buckets refill, so nobody is locked out
// permanently. Attempts on an account from an address where it was signed in to before use separate
// buckets, so that guesses from elsewhere, or at other accounts from the same address, do not lock
// the owner out. Guesses at many known accounts from one address are limited like guesses at
// unknown ones.
type limits struct {
	now func() time.Time

	mu           sync.Mutex
	buckets      bucketSet // by account, by address, and by kind of failure and address
	knownBuckets bucketSet // for known account/address pairs; unknown clients cannot fill it
	known        map[string]knownAddress
	loaded       bool // the stored addresses are in known

	storing sync.Mutex
}

func newLimits(now func() time.Time) *limits {
	return &limits{
		now:          now,
		buckets:      bucketSet{most: maxBuckets},
		knownBuckets: bucketSet{most: 2 * maxKnown},
		known:        map[string]knownAddress{},
	}
}

// attempt takes one attempt from the buckets of the account and the address. If either is empty it
// returns how long to wait and takes from neither, so an attack on one account does not use up the
// attempts of others at the same address. first is true for the first refusal since the bucket last
// allowed an attempt.
func (l *limits) attempt(account, from string) (wait time.Duration, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	on := l.bucketsFor(account, from)
	address := on.bucket(addressKey(from), addressPerMinute, now)
	if wait, first = address.check(now); wait > 0 {
		return wait, first
	}
	key := "account " + account
	if on == &l.knownBuckets {
		key = "known " + knownKey(account, from)
	}
	one := on.bucket(key, accountPerMinute, now)
	if wait, first = one.check(now); wait > 0 {
		return wait, first
	}
	address.take(now)
	one.take(now)
	return 0, false
}

// bucketsFor returns the set that holds the buckets of an attempt.
func (l *limits) bucketsFor(account, from string) *bucketSet {
	if _, ok := l.known[knownKey(account, from)]; ok {
		return &l.knownBuckets
	}
	return &l.buckets
}

// Failures other than a wrong password. Each kind has its own bucket per address, so a script with
// an old token does not stop people at the same address from signing in.
const (
	failedToken    = "token"
	failedLink     = "link"
	failedCallback = "answer" // an OIDC callback that this browser did not start
	failedCode     = "code"   // an OIDC code, which costs a request to the issuer
)

// failed takes one attempt from the address's bucket for this kind of failure.
func (l *limits) failed(what, from string) (wait time.Duration, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.buckets.bucket(what+" "+network(from), addressPerMinute, now)
	if wait, first = b.check(now); wait > 0 {
		return wait, first
	}
	b.take(now)
	return 0, false
}

// undoFailed returns the attempt that wrong took when it turns out to have succeeded.
func (l *limits) undoFailed(what, from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.buckets.giveBack(what + " " + network(from))
}

func addressKey(from string) string { return "address " + network(from) }

// network is the address; for IPv6 its /64, which one household or server has.
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
