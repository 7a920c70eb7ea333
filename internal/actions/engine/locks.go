package engine

import (
	"slices"
	"sync"
)

// locks grants runs exclusive use of what their steps change. A request gets all of its claims at once or none, and
// requests for the same thing are granted in the order in which they were made. A run that is granted the claims of a
// step asks for nothing more until that step has ended, so there is neither deadlock nor starvation. What a run has
// already it may claim again.
type locks struct {
	mu      sync.Mutex
	held    []*lockRequest
	waiting []*lockRequest // oldest first
}

type lockRequest struct {
	locks   *locks
	run     string
	claims  []claim
	granted chan struct{} // closed when the request has its claims
}

// request asks for claims.
func (l *locks) request(run string, claims []claim) *lockRequest {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, o := range l.held {
		if o.run == run { // it must not queue for it again: who waits for it would be before it
			claims = slices.DeleteFunc(slices.Clone(claims), func(c claim) bool { return slices.Contains(o.claims, c) })
		}
	}
	r := &lockRequest{locks: l, run: run, claims: claims, granted: make(chan struct{})}
	l.waiting = append(l.waiting, r)
	l.grant()
	return r
}

// grant gives their claims to all requests that no other and no earlier one keeps from it.
func (l *locks) grant() {
	var still []*lockRequest
	for _, r := range l.waiting {
		if _, by := r.firstConflict(l.held); by != nil {
			still = append(still, r)
			continue
		}
		if _, by := r.firstConflict(still); by != nil {
			still = append(still, r)
			continue
		}
		l.held = append(l.held, r)
		close(r.granted)
	}
	l.waiting = still
}

// firstConflict is the first request of another run with a claim that overlaps one of this request.
func (r *lockRequest) firstConflict(others []*lockRequest) (claim, *lockRequest) {
	for _, o := range others {
		if o.run == r.run {
			continue
		}
		for _, c := range r.claims {
			if slices.ContainsFunc(o.claims, c.overlaps) {
				return c, o
			}
		}
	}
	return claim{}, nil
}

// release gives the claims back, or withdraws a request that was not granted.
func (r *lockRequest) release() {
	l := r.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	is := func(o *lockRequest) bool { return o == r }
	l.held, l.waiting = slices.DeleteFunc(l.held, is), slices.DeleteFunc(l.waiting, is)
	l.grant()
}

// blocker returns a claim that the request waits for, and the run that has it or asked for it earlier.
func (r *lockRequest) blocker() (c claim, run string) {
	l := r.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	c, by := r.firstConflict(l.held)
	if by == nil {
		if i := slices.Index(l.waiting, r); i > 0 {
			c, by = r.firstConflict(l.waiting[:i])
		}
	}
	if by == nil {
		return c, ""
	}
	return c, by.run
}
