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
	takeOverTime = 25 * time.Second // the command line waits 30 s for an answer
	loadTime     = 10 * time.Second // for the routing table, before pages are served from it
	retireTime   = 10 * time.Second // for requests that the instance before still answers
)

// dataDirectory is the data directory as the web knows it.
type dataDirectory struct {
	*sqlite.DB
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

// takeOver opens the data directory as its owner and wires a second instance over
// it, as at a start: what was interrupted is settled, and everything begins that
// only the owner does. Only when that one has its table does it take the place of
// the one that reads, which serves until then. If anything fails before, nothing
// has changed.
func (a *App) takeOver(request context.Context, by auth.Principal) error {
	if !a.taking.TryLock() {
		return fault.New(fault.Conflict, "The data directory is being taken over already. Look again in a few seconds.")
	}
	defer a.taking.Unlock()
	old := a.now()
	switch c := old.db.Look(); {
	case c.Hold == store.Owned:
		return fault.New(fault.Conflict, "This shardboard owns its data directory already.")
	case c.Lost():
		return c.Err
	}
	// Whoever asked may leave: half a takeover helps nobody. Stop ends it.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(request), takeOverTime)
	defer cancel()
	defer context.AfterFunc(a.leaving, cancel)()

	next, err := a.ownerInstance(ctx)
	if err != nil {
		return err
	}
	entry := store.AuditEntry{Cluster: old.watcher.Table().ClusterID, At: time.Now(), By: by.ID, Via: string(by.Method), From: by.From,
		What: "data.takeover", Outcome: "ok"}
	if _, err := next.store.Append(ctx, entry); err != nil {
		return a.discard(next, notTaken(err))
	}
	if a.leaving.Err() != nil {
		return a.discard(next, fault.New(fault.Unavailable, "shardboard is ending; the data directory was not taken over."))
	}
	next.start(a.life)
	a.group.Go(next.wait)
	next.loaded(ctx)
	a.front.set(next)
	a.group.Go(func() error { old.retire(); return nil })
	a.log.Warn("took the data directory over from a shardboard that has stopped", "dir", a.dir, "by", by.ID)
	return nil
}

// ownerInstance wires an instance that owns the data directory.
func (a *App) ownerInstance(ctx context.Context) (*instance, error) {
	db, err := sqlite.OpenWith(ctx, a.dir, sqlite.Options{Log: a.log, AlreadyOpen: true})
	if err == nil && !db.Owner() {
		err = fault.New(fault.Conflict, "Another shardboard owns the data directory: it still runs, or another one has taken it over or was started meanwhile.")
		return nil, closing(err, db)
	}
	var next *instance
	if err == nil {
		next, err = a.newInstance(ctx, db)
	}
	if err != nil {
		return nil, notTaken(err)
	}
	return next, nil
}

// notTaken says what has come of it, and then why.
func notTaken(err error) error {
	return fault.Wrap(fault.Of(err), err, "The data directory was not taken over; this shardboard goes on reading it. %s", fault.Text(err))
}

// discard ends an instance that was not started.
func (a *App) discard(n *instance, err error) error {
	ctx, cancel := context.WithTimeout(context.Background(), shutdownTimeout)
	defer cancel()
	_ = n.ends.run(ctx) // it logs what fails
	return err
}

func closing(err error, db *sqlite.DB) error {
	_ = db.Close() // nothing was written
	return err
}

// loaded waits until there is a table to draw pages from, but not for ever: a
// cluster that does not answer is told on the pages.
func (a *instance) loaded(ctx context.Context) {
	late := time.After(loadTime)
	table, changed, stop := a.watcher.Subscribe()
	defer stop()
	_, dirs, stopDirs := a.keeper.Subscribe()
	defer stopDirs()
	for !table.Loaded || !a.keeper.Directory().Loaded() {
		select {
		case <-changed:
			table = a.watcher.Table()
		case <-dirs:
		case <-late:
			return
		case <-ctx.Done():
			return
		}
	}
}

// retire ends an instance that another has taken the place of: its sockets, which
// come back to the new one, then its requests, then the rest.
func (a *instance) retire() {
	ctx, cancel := context.WithTimeout(context.Background(), retireTime)
	defer cancel()
	a.web.Close()
	a.requests.wait(ctx)
	a.stop()
	_ = a.wait()        // what it says of its end changes nothing
	_ = a.ends.run(ctx) // it logs what fails
}
