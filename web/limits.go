package web

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
	locatesPerSecond, locateBurst = 50, 200
	actionsPerSecond, actionBurst = 2, 20
	maxSocketsEach                = 20
	maxCounted                    = 4096 // people and tokens remembered at once
)

// limits holds everybody's allowance. A full allowance is the same as none
// remembered, so those who asked for nothing lately are forgotten first.
type limits struct {
	now func() time.Time

	mu      sync.Mutex
	each    *simplelru.LRU[string, *allowance]
	sockets map[string]int
}

type allowance struct {
	locate, action *rate.Limiter
}

func newLimits(now func() time.Time) *limits {
	each, _ := simplelru.NewLRU[string, *allowance](maxCounted, nil) // fails for no room only
	return &limits{now: now, each: each, sockets: map[string]int{}}
}

// unlimited reports whether who is a shared identity: everybody is the local or the
// demo user there, so a limit per person would throttle everyone together.
func unlimited(who auth.Principal) bool {
	return who.Method == auth.ByNone || who.Method == auth.ByDemo
}

// wait takes one request of a route from who's allowance and tells how long to
// wait when there is none left; 0 lets it through.
func (l *limits) wait(who auth.Principal, rt Route) time.Duration {
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

func (l *limits) of(id string) *allowance {
	a, ok := l.each.Get(id)
	if !ok {
		a = &allowance{locate: rate.NewLimiter(locatesPerSecond, locateBurst), action: rate.NewLimiter(actionsPerSecond, actionBurst)}
		l.each.Add(id, a)
	}
	return a
}

// enter counts a socket in; false when who has as many as one may.
func (l *limits) enter(who auth.Principal) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !unlimited(who) && l.sockets[who.ID] >= maxSocketsEach {
		return false
	}
	l.sockets[who.ID]++
	return true
}

func (l *limits) exit(who auth.Principal) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.sockets[who.ID]--; l.sockets[who.ID] <= 0 {
		delete(l.sockets, who.ID)
	}
}

// waitOf is how long to wait after a refusal of package auth or of our own.
func waitOf(err error) (time.Duration, bool) {
	var often *auth.TooMany
	if errors.As(err, &often) {
		return often.Wait, true
	}
	return 0, false
}

// wholeSeconds is never less than the wait, for Retry-After and for people.
func wholeSeconds(wait time.Duration) string {
	return strconv.FormatInt(max(1, int64((wait+time.Second-1)/time.Second)), 10)
}
