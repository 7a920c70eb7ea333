package engine

import (
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/clock"
)

const (
	agesKept = 10_000 // plans whose age is known apart from the clock
)

// planAges tells when a plan has expired, whatever is done to the clock: a plan
// is never run later than it may be, and one that was refused as expired stays
// so. Plans of an earlier process are judged by the clock alone, which refuses
// those that are from a time that has not come. Safe for concurrent use.
type planAges struct {
	mu    sync.Mutex
	made  map[string]time.Time // with the monotonic reading, which nobody can set; zero: expired
	order []string             // oldest first
}

// note begins to count the age of a plan that is made now.
func (a *planAges) note(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.keep(id, time.Now())
}

func (a *planAges) keep(id string, made time.Time) {
	if a.made == nil {
		a.made = map[string]time.Time{}
	}
	if _, ok := a.made[id]; !ok {
		a.order = append(a.order, id)
	}
	a.made[id] = made
	if len(a.order) > agesKept {
		delete(a.made, a.order[0])
		a.order = a.order[1:]
	}
}

// expired tells whether a plan may not be run any more at a time.
func (a *planAges) expired(p actions.Plan, at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	made, known := a.made[p.ID]
	over := known && (made.IsZero() || time.Since(made) >= Expiry) ||
		!at.Before(p.Expires) || clock.Ahead(p.Made, at)
	if over {
		a.keep(p.ID, time.Time{})
	}
	return over
}
