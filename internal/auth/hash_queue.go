package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"shardboard/internal/fault"
)

const (
	maxHashes = 2

	// For signed-in users and for addresses from which somebody signed in before. An office that
	// signs in all at once in the morning sends 64 attempts; at 20 a second they take 4 s.
	knownWait          = 15 * time.Second
	knownMax           = 256
	knownMaxPerAddress = 64

	// For all other addresses. An attempt that would wait longer than a person does is told at once
	// to try later, so it holds no memory meanwhile.
	unknownWait          = 5 * time.Second
	unknownMax           = 16
	unknownMaxPerAddress = 4

	busyRetryAfter = 5 * time.Second // Retry-After of a rejected attempt
)

// Busy means that more people are signing in at this moment than can be served. It is a
// fault.Unavailable with a sentence; HTTP answers 503 with Retry-After.
type Busy struct{ Wait time.Duration }

// Error is the text for logs.
func (e *Busy) Error() string { return fmt.Sprintf("too many sign-ins at once, wait %s", e.Wait) }

// Unwrap gives package fault the kind and the sentence for people.
func (e *Busy) Unwrap() error {
	return fault.New(
		fault.Unavailable,
		"Too many people are signing in at this moment. Your name and password were not checked. Try again in %d s.",
		int(e.Wait/time.Second),
	)
}

// client is what the queue knows of an attempt. It has no account name, so waiting times reveal
// nothing about accounts.
type client struct {
	from  string // its network; networks take turns
	known bool   // served before unknown clients
}

// signedIn is a client that has a session already.
var signedIn = client{known: true}

// hashQueue limits how many password hashes are computed at once. Known clients are served first,
// so a flood of unknown ones delays them by at most one hash. No slot is reserved for known
// clients: a free slot is used by anyone, and known clients get the next one.
type hashQueue struct {
	mu      sync.Mutex
	free    int
	known   fairQueue
	unknown fairQueue
}

func newHashQueue() *hashQueue {
	return &hashQueue{
		free:    maxHashes,
		known:   newFairQueue(knownMax, knownMaxPerAddress, knownWait),
		unknown: newFairQueue(unknownMax, unknownMaxPerAddress, unknownWait),
	}
}

// acquire waits for a slot; done releases it. It fails with *Busy at once when the queue is full,
// and later when the wait was too long.
func (q *hashQueue) acquire(ctx context.Context, who client) (done func(), err error) {
	q.mu.Lock()
	if q.free > 0 { // so nobody is waiting
		q.free--
		q.mu.Unlock()
		return q.release, nil
	}
	on := &q.unknown
	if who.known {
		on = &q.known
	}
	w := &waiter{from: who.from, ready: make(chan struct{})}
	joined := on.join(w)
	q.mu.Unlock()
	if !joined {
		return nil, &Busy{busyRetryAfter}
	}
	limit := time.NewTimer(on.wait)
	defer limit.Stop()
	select {
	case <-w.ready:
	case <-limit.C:
		err = &Busy{busyRetryAfter}
	case <-ctx.Done():
		err = fault.Wrap(fault.Unavailable, ctx.Err(), "The request ended before the password was checked.")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case w.turn && err == nil:
		return q.release, nil
	case w.turn: // the slot arrived at the same moment; pass it on
		q.next()
	case err == nil:
		err = &Busy{busyRetryAfter} // evicted in favour of an address that had no waiter
	default:
		on.leave(w)
	}
	return nil, err
}

func (q *hashQueue) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// next gives a released slot to the next waiter.
func (q *hashQueue) next() {
	for _, on := range []*fairQueue{&q.known, &q.unknown} {
		if w := on.next(); w != nil {
			w.turn = true
			close(w.ready)
			return
		}
	}
	q.free++
}
