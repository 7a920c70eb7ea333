package auth

import (
	"context"
	"fmt"
	"sync"
	"time"

	"shardboard/internal/fault"
)

const (
	hashAtOnce = 2

	// Of people who are in, or at an address from where somebody signed in before.
	// An office signs in at once in the morning: 64 at 20 a second are 4 s.
	knownWait = 15 * time.Second
	knownMost = 256
	knownEach = 64

	// Of everybody else. Who would wait longer than a person does is told at once
	// to come back, and holds nothing here meanwhile.
	strangerWait = 5 * time.Second
	strangerMost = 16
	strangerEach = 4

	busyWait = 5 * time.Second // what one too many is told to wait
)

// Busy says that more people sign in at this moment than can be served. It is a
// fault.Unavailable with a sentence; HTTP says 503 with Retry-After.
type Busy struct{ Wait time.Duration }

// Error is for logs.
func (e *Busy) Error() string { return fmt.Sprintf("too many sign-ins at once, wait %s", e.Wait) }

// Unwrap classifies it and gives the sentence.
func (e *Busy) Unwrap() error {
	return fault.New(fault.Unavailable, "Too many people sign in at this moment. Your name and password were not looked at. Try again in %d s.", int(e.Wait/time.Second))
}

// asker is whose password is hashed, as far as the queue has to know. It knows no
// account, so nothing can be learned about accounts from who waits how long.
type asker struct {
	from  string // network; addresses of one class take turns
	known bool   // goes before those who are not
}

// insider is somebody who is in already.
var insider = asker{known: true}

// hashQueue hands out the places for hashing. Whoever is known goes first, so a
// flood of strangers costs them one hash of waiting at the most. No place is kept
// free for them: one that is free is used, and the next one is theirs.
type hashQueue struct {
	mu        sync.Mutex
	free      int
	known     line
	strangers line
}

func newHashQueue() *hashQueue {
	return &hashQueue{free: hashAtOnce, known: newLine(knownMost, knownEach, knownWait), strangers: newLine(strangerMost, strangerEach, strangerWait)}
}

// turn waits for a place; done gives it back. It fails with *Busy at once when
// too many wait already, and later when it took too long.
func (q *hashQueue) turn(ctx context.Context, who asker) (done func(), err error) {
	q.mu.Lock()
	if q.free > 0 { // then nobody waits
		q.free--
		q.mu.Unlock()
		return q.done, nil
	}
	on := &q.strangers
	if who.known {
		on = &q.known
	}
	w := &waiter{from: who.from, told: make(chan struct{})}
	joined := on.join(w)
	q.mu.Unlock()
	if !joined {
		return nil, &Busy{busyWait}
	}
	limit := time.NewTimer(on.wait)
	defer limit.Stop()
	select {
	case <-w.told:
	case <-limit.C:
		err = &Busy{busyWait}
	case <-ctx.Done():
		err = fault.Wrap(fault.Unavailable, ctx.Err(), "The request ended before the password was looked at.")
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case w.turn && err == nil:
		return q.done, nil
	case w.turn: // it came at the same moment
		q.next()
	case err == nil:
		err = &Busy{busyWait} // made room for somebody whose address had nobody in the line
	default:
		on.leave(w)
	}
	return nil, err
}

func (q *hashQueue) done() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.next()
}

// next passes a place on.
func (q *hashQueue) next() {
	for _, on := range []*line{&q.known, &q.strangers} {
		if w := on.first(); w != nil {
			w.turn = true
			close(w.told)
			return
		}
	}
	q.free++
}
