package auth

import (
	"fmt"
	"net/netip"
	"sync"
	"time"

	"shardboard/internal/fault"
)

const (
	accountPerMinute = 10 // attempts at one account
	addressPerMinute = 30 // wrong attempts of one address at any account; as many of each other kind
	maxBuckets       = 10_000
	maxKnown         = 1_000
	maxPlaces        = 20 // known ones of one account
)

// Error is for logs.
func (e *TooMany) Error() string { return fmt.Sprintf("too many attempts, wait %s", e.Wait) }

// Unwrap classifies it and gives the sentence.
func (e *TooMany) Unwrap() error {
	return fault.New(fault.Unavailable, "Too many attempts. Try again in %d s.", e.Seconds())
}

// Seconds is the wait, rounded up: the value of Retry-After.
func (e *TooMany) Seconds() int { return int((e.Wait + time.Second - 1) / time.Second) }

// limits are allowances by account and by client address. A used one fills again
// by itself, so nobody is locked out for good. An address from which an account
// was signed in to before is known for it: its attempts draw on allowances of
// their own, so that whoever guesses elsewhere, or at other accounts from here,
// does not keep the owner out. Guessing at many known accounts from one address
// is bounded like guessing at unknown ones.
type limits struct {
	now func() time.Time

	mu       sync.Mutex
	others   shelf // of everybody: accounts, addresses, and what is wrong by address
	familiar shelf // of known pairs, and of their addresses; no stranger can fill it
	known    map[string]place
	recalled bool // known has what was stored

	storing sync.Mutex
}

func newLimits(now func() time.Time) *limits {
	return &limits{now: now, others: shelf{most: maxBuckets}, familiar: shelf{most: 2 * maxKnown}, known: map[string]place{}}
}

// attempt takes from the account's and the address's bucket, or says how long
// to wait and takes from neither: who hammers at one account does not use up
// what others at the address have. first tells that this is the first refusal
// since the last attempt of that bucket that was let through.
func (l *limits) attempt(account, from string) (wait time.Duration, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	on := l.shelfOf(account, from)
	address := on.bucket(addressKey(from), addressPerMinute, now)
	if wait, first = address.refuses(now); wait > 0 {
		return wait, first
	}
	key := "account " + account
	if on == &l.familiar {
		key = "known " + pair(account, from)
	}
	one := on.bucket(key, accountPerMinute, now)
	if wait, first = one.refuses(now); wait > 0 {
		return wait, first
	}
	address.take(now)
	one.take(now)
	return 0, false
}

// shelfOf is where the allowances of an attempt are.
func (l *limits) shelfOf(account, from string) *shelf {
	if _, ok := l.known[pair(account, from)]; ok {
		return &l.familiar
	}
	return &l.others
}

// What can be wrong besides a password. Each has a bucket of its own for an
// address: a script with an old token keeps nobody from signing in.
const (
	wrongToken  = "token"
	wrongLink   = "link"
	wrongAnswer = "answer" // of an issuer, to a question that this browser did not ask
	wrongCode   = "code"   // that the issuer has to be asked about
)

// wrong takes from the address's bucket of what is wrong.
func (l *limits) wrong(what, from string) (wait time.Duration, first bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	b := l.others.bucket(what+" "+network(from), addressPerMinute, now)
	if wait, first = b.refuses(now); wait > 0 {
		return wait, first
	}
	b.take(now)
	return 0, false
}

// right gives back what wrong took of something that was right in the end.
func (l *limits) right(what, from string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.others.giveBack(what + " " + network(from))
}

func addressKey(from string) string { return "address " + network(from) }

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
