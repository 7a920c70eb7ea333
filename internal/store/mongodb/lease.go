package mongodb

import (
	"context"
	"sync"
	"time"

	"shardboard/internal/store"
)

// ownShare is the part of the lease's time for which its holder trusts it, by its own clock from the
// time when it sent the renewal.
const ownShare = 0.8

// sighting is what this process saw of somebody's lease.
type sighting struct {
	token int64
	until time.Time
	at    time.Time // when it was first seen like this, by this process's clock
	moved bool      // it was seen to change before
}

// tenure is one time of leading.
type tenure struct {
	token int64
	until time.Time       // by this process's clock; later it no longer leads
	ctx   context.Context // ends with the tenure
	end   context.CancelFunc
	timer *time.Timer // ends it when no renewal comes
}

// lease is what this process knows about the lease.
type lease struct {
	now func() time.Time
	own time.Duration // for which a renewal is trusted

	mu      sync.Mutex
	tenure  *tenure // nil: does not lead
	seen    store.Leader
	sight   sighting      // of the lease as it was last read
	renewed time.Time     // when this process sent its last renewal
	changed chan struct{} // closed at the next change of tenure
	lost    int64         // the newest token that was given up; it never leads again
}

func newLease(o Options) *lease {
	return &lease{now: o.now, own: time.Duration(float64(o.Lease) * ownShare), changed: make(chan struct{}), seen: store.Leader{Shared: true}}
}

// token returns the token of the current tenure.
func (l *lease) token() (token int64, leads bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenure == nil || !l.now().Before(l.tenure.until) {
		return 0, false
	}
	return l.tenure.token, true
}

// begin starts or extends a tenure. sent is when the request was sent that the server agreed to.
func (l *lease) begin(token int64, sent time.Time, who store.Leader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if token <= l.lost { // the answer to a renewal that was under way when the lead was given up
		return
	}
	l.seen, l.renewed = who, sent
	if l.tenure != nil && l.tenure.token == token {
		l.tenure.until = sent.Add(l.own)
		l.tenure.timer.Reset(l.tenure.until.Sub(l.now()))
		return
	}
	l.endLocked()
	t := &tenure{token: token, until: sent.Add(l.own)}
	t.ctx, t.end = context.WithCancel(context.WithValue(context.Background(), termKey{}, token))
	t.timer = time.AfterFunc(t.until.Sub(l.now()), func() { l.expire(token) })
	l.tenure = t
	l.wakeLocked()
}

// expire ends a tenure whose time is over by this process's clock.
func (l *lease) expire(token int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := l.tenure
	if t == nil || t.token != token {
		return
	}
	if left := t.until.Sub(l.now()); left > 0 {
		t.timer.Reset(left)
		return
	}
	l.endLocked()
}

// lose ends a tenure because somebody else leads.
func (l *lease) lose(token int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = max(l.lost, token)
	if l.tenure != nil && l.tenure.token == token {
		l.endLocked()
	}
}

func (l *lease) endLocked() {
	if l.tenure == nil {
		return
	}
	l.tenure.timer.Stop()
	l.tenure.end()
	l.tenure = nil
	if l.seen.Here {
		l.seen = store.Leader{Shared: true, Term: l.seen.Term, Since: l.now()}
	}
	l.wakeLocked()
}

func (l *lease) wakeLocked() {
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *lease) saw(who store.Leader) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenure != nil {
		return
	}
	if who.Name == "" { // nobody leads: since when?
		if who.Since = l.seen.Since; l.seen.Name != "" || who.Since.IsZero() {
			who.Since = l.now()
		}
	}
	l.seen = who
}

// leader describes who leads, and when the lease was last renewed as far as this process knows.
func (l *lease) leader() store.Leader {
	l.mu.Lock()
	defer l.mu.Unlock()
	who := l.seen
	switch {
	case who.Here:
		who.Renewed = l.renewed
	case who.Name != "":
		who.Renewed = l.sight.at
	}
	return who
}

// current returns the context of the current tenure, nil without one, and a channel that is closed
// at the next change.
func (l *lease) current() (context.Context, <-chan struct{}) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.tenure == nil {
		return nil, l.changed
	}
	return l.tenure.ctx, l.changed
}

// watch notes a lease that was read. It returns for how long this process has seen it unchanged, and
// whether it saw it change before.
func (l *lease) watch(d leaseDoc) (unchanged time.Duration, moved bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.now()
	if s := l.sight; s.at.IsZero() || s.token != d.Token || !s.until.Equal(d.Until) {
		l.sight = sighting{d.Token, d.Until, now, !s.at.IsZero()}
	}
	return now.Sub(l.sight.at), l.sight.moved
}
