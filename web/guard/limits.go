package guard

import (
	"errors"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"
	"golang.org/x/time/rate"

	"shardboard/internal/auth"
)

// Bounds for one person or token. Sign-in has its own, in package auth.
const (
	locatesPerSecond, LocateBurst = 50, 200
	actionsPerSecond, ActionBurst = 2, 20
	MaxSocketsEach                = 20
	MaxCounted                    = 4096 // people and tokens remembered at once
)

// Limits holds everybody's allowance. A full allowance is the same as none
// remembered, so those who asked for nothing lately are forgotten first.
type Limits struct {
	now func() time.Time

	mu      sync.Mutex
	Each    *simplelru.LRU[string, *allowance]
	Sockets map[string]int
}

type allowance struct {
	locate, action *rate.Limiter
}

// NewLimits makes limits that nobody has used yet. now is the clock of the allowances.
func NewLimits(now func() time.Time) *Limits {
	each, _ := simplelru.NewLRU[string, *allowance](MaxCounted, nil) // fails for no room only
	return &Limits{now: now, Each: each, Sockets: map[string]int{}}
}

// unlimited reports whether who is a shared identity: everybody is the local or the
// demo user there, so a limit per person would throttle everyone together.
func unlimited(who auth.Principal) bool {
	return who.Method == auth.ByNone || who.Method == auth.ByDemo
}

// Wait takes one request of a route from who's allowance and tells how long to
// wait when there is none left; 0 lets it through.
func (l *Limits) Wait(who auth.Principal, rt Rule) time.Duration {
	acts := rt.Method == http.MethodPost && rt.Policy != PolicyOpen
	if who.ID == "" || unlimited(who) || rt.Policy != PolicyLocate && !acts {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	a := l.of(who.ID)
	bucket := a.action
	if rt.Policy == PolicyLocate {
		bucket = a.locate
	}
	take := bucket.ReserveN(now, 1)
	wait := take.DelayFrom(now)
	if wait > 0 {
		take.CancelAt(now) // refused ones cost nothing
	}
	return wait
}

func (l *Limits) of(id string) *allowance {
	a, ok := l.Each.Get(id)
	if !ok {
		a = &allowance{locate: rate.NewLimiter(locatesPerSecond, LocateBurst), action: rate.NewLimiter(actionsPerSecond, ActionBurst)}
		l.Each.Add(id, a)
	}
	return a
}

// Enter counts a socket in; false when who has as many as one may.
func (l *Limits) Enter(who auth.Principal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !unlimited(who) && l.Sockets[who.ID] >= MaxSocketsEach {
		return false
	}
	l.Sockets[who.ID]++
	return true
}

func (l *Limits) Exit(who auth.Principal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.Sockets[who.ID]--; l.Sockets[who.ID] <= 0 {
		delete(l.Sockets, who.ID)
	}
}

// WaitOf is how long to wait after a refusal of package auth or of our own.
func WaitOf(err error) (time.Duration, bool) {
	var often *auth.TooMany
	if errors.As(err, &often) {
		return often.Wait, true
	}
	return 0, false
}

// WholeSeconds is never less than the wait, for Retry-After and for people.
func WholeSeconds(wait time.Duration) string {
	return strconv.FormatInt(max(1, int64((wait+time.Second-1)/time.Second)), 10)
}
