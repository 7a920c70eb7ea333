package mongodb

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
)

const repeatLoss = 5 * time.Minute // between log lines about the same trouble

// state is whether the store can be used now: whether it answers, by the last call that told, and whether
// it stores, by the last test write.
type state struct {
	log *slog.Logger
	at  Address

	mu       sync.Mutex
	now      *store.Trouble // nil: none
	cause    error          // of now
	unproven *store.Trouble // of the last test write; nil: it was read back
	since    time.Time      // of the current condition
	outdate  error          // a newer shardboard changed the schema; this one must not write any more
	changed  chan struct{}  // has a value when something changed that Watch has not logged
}

func newState(log *slog.Logger, at Address) *state {
	return &state{log: log, at: at, since: time.Now(), changed: make(chan struct{}, 1)}
}

func (s *state) notify() {
	select {
	case s.changed <- struct{}{}:
	default:
	}
}

// meet remembers a trouble and returns it with the time since when it is known.
func (s *state) meet(t store.Trouble, err error) store.Trouble {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cause = err
	if s.now != nil && s.now.Code == t.Code {
		t.Since = s.now.Since
		s.now = &t
		return t
	}
	t.Since = time.Now()
	if s.now == nil {
		s.since = t.Since
	}
	s.now = &t
	s.notify()
	return t
}

// worked ends a trouble.
func (s *state) worked() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil {
		return
	}
	if s.now, s.cause = nil, nil; s.unproven == nil {
		s.since = time.Now()
	}
	s.notify()
}

// proven notes the result of a test write; t is nil when what was written was read back.
func (s *state) proven(t *store.Trouble) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case t == nil && s.unproven == nil:
		return
	case t != nil && s.unproven != nil:
		t.Since = s.unproven.Since
	case t != nil:
		t.Since = time.Now()
	}
	if (s.unproven == nil) != (t == nil) {
		if s.now == nil {
			s.since = time.Now()
		}
		s.notify()
	}
	s.unproven = t
}

// troubleLocked is why nothing can be stored: no answer, or a test write without effect.
func (s *state) troubleLocked() *store.Trouble {
	if s.now != nil {
		return s.now
	}
	return s.unproven
}

// outdated makes all further writes fail.
func (s *state) outdated(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.outdate == nil {
		s.outdate, s.since = err, time.Now()
		s.notify()
	}
}

// refused is why nothing may be written, whether the server answers or not.
func (s *state) refused() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.outdate
}

// down is the failure of a call while the server has not answered for a time. Each call would wait for a
// server otherwise, and a page makes several. The goroutine of the lease finds out when it answers.
func (s *state) down(patience time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.now == nil || s.now.Code != store.TroubleUnreachable || time.Since(s.now.Since) < patience {
		return nil
	}
	return s.now.Failed(s.cause)
}

func (s *state) condition() store.Condition {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch t := s.troubleLocked(); {
	case s.outdate != nil:
		return store.Condition{Hold: store.OwnedByAnother, Since: s.since, Err: s.outdate}
	case t != nil:
		return store.Condition{Hold: store.Unreachable, Since: s.since,
			Err: fault.Wrap(fault.Unavailable, t.Failed(s.cause), "%s, so nothing can be stored. The log has the cause.", t.Title())}
	}
	return store.Condition{Hold: store.Owned, Since: s.since}
}

// Condition is the state by the last call that told.
func (db *DB) Condition() store.Condition { return db.state.condition() }

// Writable is nil while this process may write. It sends nothing: a test write finds out every few seconds.
func (db *DB) Writable() error { return db.Condition().Err }

// Look makes a test write now.
func (db *DB) Look() store.Condition {
	ctx, cancel := context.WithTimeout(context.Background(), db.o.Timeout)
	defer cancel()
	_ = db.prove(ctx) // its failure is the state
	return db.Condition()
}

// Trouble is why the store cannot be used now; nil when it can.
func (db *DB) Trouble() *store.Trouble {
	db.state.mu.Lock()
	defer db.state.mu.Unlock()
	t := db.state.troubleLocked()
	if t == nil {
		return nil
	}
	copied := *t
	return &copied
}

// Watch logs what becomes of the store until ctx ends. The store looks by itself.
func (db *DB) Watch(ctx context.Context, log *slog.Logger) error {
	again := time.NewTicker(repeatLoss)
	defer again.Stop()
	before := store.Condition{Hold: store.Owned}
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-db.state.changed:
		case <-again.C:
			if before.Err == nil {
				continue
			}
		}
		switch now := db.Condition(); {
		case now.Err != nil:
			log.Error("the store cannot be used", "store", db.address, "since", now.Since.UTC(), "err", now.Err)
			before = now
		case before.Err != nil:
			log.Info("the store answers again", "store", db.address, "lost_since", before.Since.UTC())
			before = now
		}
	}
}
