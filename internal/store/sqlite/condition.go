package sqlite

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"time"

	"shardboard/internal/store"
)

const (
	lookEvery  = 2 * time.Second // finds a loss while nothing is written
	repeatLoss = 5 * time.Minute // between log lines about the same loss
)

// condition is the last known state of the data directory.
type condition struct {
	mu      sync.Mutex
	now     store.Condition
	opened  time.Time
	changed chan struct{} // has a value when now changed and Watch has not yet logged it
}

func newCondition(h store.Hold, err error) *condition {
	now := time.Now()
	return &condition{now: store.Condition{Hold: h, Since: now, Err: err}, opened: now, changed: make(chan struct{}, 1)}
}

// set stores the result of a check. words makes the error for people from the time since when it is
// so.
func (c *condition) set(h store.Hold, words func(since time.Time) error) store.Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.now.Hold == h {
		return c.now
	}
	c.now = store.Condition{Hold: h, Since: time.Now()}
	c.now.Err = words(c.now.Since)
	select {
	case c.changed <- struct{}{}:
	default:
	}
	return c.now
}

func (c *condition) get() store.Condition {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Condition is the result of the last check. It makes no system call.
func (db *DB) Condition() store.Condition { return db.condition.get() }

// Writable checks the directory and is nil while this process may write.
func (db *DB) Writable() error {
	if db.lock == nil {
		return db.Condition().Err // only Watch looks for the owner, because that takes the lock for a moment
	}
	return db.Look().Err
}

// Look compares the path with the open files. In a process that only reads it also checks whether
// there is an owner.
func (db *DB) Look() store.Condition {
	err := db.place.moved()
	var unseen *unseenError
	switch {
	case errors.As(err, &unseen):
		return db.condition.set(store.Unreadable, func(since time.Time) error { return sentence(err, since) })
	case err != nil:
		return db.condition.set(store.Vanished, func(since time.Time) error { return sentence(err, since) })
	case db.lock != nil:
		return db.condition.set(store.Owned, func(time.Time) error { return nil })
	case db.probe != nil && free(db.probe):
		return db.condition.set(store.OwnerGone, func(time.Time) error { return store.ErrOwnerGone })
	}
	return db.condition.set(store.OwnedByAnother, func(time.Time) error { return store.ErrReadOnly })
}

// Watch checks the directory every few seconds until ctx ends, and logs changes.
func (db *DB) Watch(ctx context.Context, log *slog.Logger) error {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	before, logged := db.Condition(), time.Now()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-db.condition.changed: // found by a write
		case <-tick.C:
			db.Look()
		}
		now := db.Condition()
		if now.Hold != before.Hold || now.Lost() && time.Since(logged) >= repeatLoss {
			db.logChange(log, before, now)
			before, logged = now, time.Now()
		}
	}
}

// logChange logs a new condition, or one that lasts.
func (db *DB) logChange(log *slog.Logger, before, now store.Condition) {
	switch {
	case now.Lost():
		log.Error("the data directory is lost: nothing is stored", "dir", db.place.dir, "since", now.Since.UTC(), "err", now.Err)
	case before.Lost():
		log.Info("the data directory is back at its path", "dir", db.place.dir, "hold", now.Hold, "lost_since", before.Since.UTC())
	case now.Hold == store.OwnerGone:
		log.Warn(
			"the shardboard that owned the data directory has stopped; this one only reads until an admin lets it take over",
			"dir", db.place.dir)
	case now.Hold == store.OwnedByAnother:
		log.Info("another shardboard owns the data directory again", "dir", db.place.dir)
	}
}
