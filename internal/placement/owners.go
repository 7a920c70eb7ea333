package placement

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"shardboard/internal/topology"
)

const (
	ownersFresh = 10 * time.Second // how long an answer of the server is given to others too
	ownersWait  = 5 * time.Second
	ownersKept  = 1000 // collections
)

// OwnersSource reads which shards had data of a collection. A topology.SkippedError comes with the rows that were
// understood.
type OwnersSource interface {
	Owners(ctx context.Context, ns topology.Namespace) (rows []topology.OwnersRow, more bool, err error)
}

// Owners asks the server once for all who ask within 10 s. Safe for concurrent use.
type Owners struct {
	src     OwnersSource
	now     func() time.Time
	flights singleflight.Group

	mu      sync.Mutex
	answers map[topology.Namespace]ownersAnswer
}

type ownersAnswer struct {
	at   time.Time
	rows []topology.OwnersRow
	more bool
	err  error
}

// NewOwners makes one; now is nil for time.Now.
func NewOwners(src OwnersSource, now func() time.Time) *Owners {
	if now == nil {
		now = time.Now
	}
	return &Owners{src: src, now: now, answers: map[topology.Namespace]ownersAnswer{}}
}

// Owners is what the source answers, at most 10 s old.
func (o *Owners) Owners(ctx context.Context, ns topology.Namespace) (rows []topology.OwnersRow, more bool, err error) {
	if a, ok := o.kept(ns); ok {
		return a.rows, a.more, a.err
	}
	v, _, _ := o.flights.Do(string(ns), func() (any, error) {
		// Whoever asked first may leave without taking the others' answer away.
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), ownersWait)
		defer cancel()
		a := ownersAnswer{}
		a.rows, a.more, a.err = o.src.Owners(ctx, ns)
		a.at = o.now()
		o.keep(ns, a)
		return a, nil
	})
	a, _ := v.(ownersAnswer)
	return a.rows, a.more, a.err
}

func (o *Owners) kept(ns topology.Namespace) (ownersAnswer, bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	a, ok := o.answers[ns]
	return a, ok && o.now().Sub(a.at) < ownersFresh
}

func (o *Owners) keep(ns topology.Namespace, a ownersAnswer) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.answers) >= ownersKept {
		clear(o.answers)
	}
	o.answers[ns] = a
}
