package engine

import (
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/clock"
)

// expiriesKept is how many plans have an age that does not depend on the clock.
const expiriesKept = 10_000

// planExpiry decides when a plan has expired, even when the clock of the machine is
// changed: a plan never runs later than allowed, and once refused as expired it
// stays expired. Plans of an earlier process are judged by the clock alone, which
// refuses plans that were made in its future. It is safe for concurrent use.
type planExpiry struct {
	mu    sync.Mutex
	made  map[string]time.Time // with a monotonic clock reading; zero: expired
	order []string             // oldest first
}

// span is a time in which something counts: a plan or its approval.
type span struct {
	id            string
	begins, until time.Time
}

func spanOf(p actions.Plan) span { return span{p.ID, p.Made, p.Expires} }

// track starts to count the age of a plan that is made now.
func (a *planExpiry) track(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.put(id, time.Now())
}

func (a *planExpiry) put(id string, made time.Time) {
	if a.made == nil {
		a.made = map[string]time.Time{}
	}
	if _, ok := a.made[id]; !ok {
		a.order = append(a.order, id)
	}
	a.made[id] = made
	if len(a.order) > expiriesKept {
		delete(a.made, a.order[0])
		a.order = a.order[1:]
	}
}

// expired reports whether a plan must not be run any more at the given time, or its approval does not
// count any more.
func (a *planExpiry) expired(s span, at time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	made, known := a.made[s.id]
	over := known && (made.IsZero() || time.Since(made) >= s.until.Sub(s.begins)) ||
		!at.Before(s.until) || clock.Ahead(s.begins, at)
	if over {
		a.put(s.id, time.Time{})
	}
	return over
}
