package app

import (
	"context"
	"time"

	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/store/sqlite"
)

const (
	takeoverTimeout = 25 * time.Second // the command line waits 30 s for an answer
	loadTimeout     = 10 * time.Second // for loading the routing table before the new instance serves
	retireTimeout   = 10 * time.Second // for requests that the old instance is still answering
)

// dataDirectory implements web's interface of the data directory.
type dataDirectory struct {
	store.Database
	app *App
}

// TakeOver makes this process the owner of the data directory.
func (d dataDirectory) TakeOver(ctx context.Context, by auth.Principal) error {
	err := d.app.takeOver(ctx, by)
	if err != nil {
		d.app.log.Warn("the data directory was not taken over", "by", by.ID, "err", err)
	}
	return err
}

// takeOver opens the data directory as its owner and wires a second instance over it, as at a
// start: interrupted runs are settled and the owner's background work begins. The new instance
// replaces the read-only one, which serves until then, after it has loaded its routing table. A
// failure before that changes nothing.
func (a *App) takeOver(request context.Context, by auth.Principal) error {
	if !a.takeoverMu.TryLock() {
		return fault.New(fault.Conflict, "The data directory is already being taken over. Check again in a few seconds.")
	}
	defer a.takeoverMu.Unlock()
	old := a.current()
	if old.db.Leader().Shared {
		return fault.New(fault.Conflict, "The shardboards that share this store take over from each other by themselves.")
	}
	switch c := old.db.Look(); {
	case c.Hold == store.Owned:
		return fault.New(fault.Conflict, "This shardboard already owns its data directory.")
	case c.Lost():
		return c.Err
	}
	// The client may disconnect, but a half-done takeover helps nobody, so only Stop and the
	// timeout end it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request), takeoverTimeout)
	defer cancel()
	defer context.AfterFunc(a.stopping, cancel)()

	next, err := a.ownerInstance(ctx)
	if err != nil {
		return err
	}
	entry := store.AuditEntry{Cluster: old.clusterID(), At: time.Now(), By: by.ID, Via: string(by.Method), From: by.From,
		What: "data.takeover", Outcome: "ok"}
	if _, err := next.store.Append(ctx, entry); err != nil {
		return a.discard(next, takeoverFailed(err))
	}
	if a.stopping.Err() != nil {
		return a.discard(next, fault.New(fault.Unavailable, "shardboard is ending; the data directory was not taken over."))
	}
	next.start(a.life)
	a.group.Go(next.wait)
	next.waitLoaded(ctx)
	a.front.set(next)
	a.group.Go(func() error { old.retire(); return nil })
	a.log.Warn("took the data directory over from a shardboard that has stopped", "dir", a.dir, "by", by.ID)
	return nil
}

// ownerInstance wires an instance that owns the data directory.
func (a *App) ownerInstance(ctx context.Context) (*instance, error) {
	db, err := sqlite.OpenWith(ctx, a.dir, sqlite.Options{Log: a.log, AlreadyOpen: true})
	if err == nil && !db.Owner() {
		err = fault.New(
			fault.Conflict,
			"Another shardboard owns the data directory: it is still running, or another one was started or took it over meanwhile.",
		)
		return nil, closeAndReturn(err, db)
	}
	var next *instance
	if err == nil {
		next, err = a.newInstance(ctx, db)
	}
	if err != nil {
		return nil, takeoverFailed(err)
	}
	return next, nil
}

// takeoverFailed says that the takeover failed, and then why.
func takeoverFailed(err error) error {
	return fault.Wrap(fault.Of(err), err, "The data directory was not taken over; this shardboard continues to read it. %s", fault.Text(err))
}

// discard closes an instance that was not started.
func (a *App) discard(n *instance, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	_ = n.cleanup.run(ctx) // failures are logged
	return err
}

func closeAndReturn(err error, db store.Database) error {
	_ = db.Close() // nothing was written
	return err
}

// retire ends a replaced instance: its WebSockets, which reconnect to the new one, then its
// requests, then the rest.
func (n *instance) retire() {
	ctx, cancel := context.WithTimeout(context.Background(), retireTimeout)
	defer cancel()
	n.closeSockets()
	n.requests.wait(ctx)
	n.stop()
	_ = n.wait()           // its error no longer matters
	_ = n.cleanup.run(ctx) // failures are logged
}
