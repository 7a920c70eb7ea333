package mongodb

import (
	"context"
	"errors"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/store"
)

// keep tries to get the lease once and then starts the goroutine that takes, renews and watches it.
func (db *DB) keep(ctx context.Context) {
	db.tendLease(ctx) // a failure is tried again
	ctx, db.stop = context.WithCancel(context.WithoutCancel(ctx))
	db.background.Go(func() { db.beatUntil(ctx) })
	db.background.Go(func() {
		for {
			// A third of the lease, so that two renewals may fail. A replica that follows looks more
			// often, because everything waits for it when the leader is gone.
			wait := db.o.Lease / 10
			if db.Leads() && db.Trouble() == nil {
				wait = db.o.Lease / 3
			}
			_, changed := db.lease.current()
			select {
			case <-ctx.Done():
				return
			case <-changed:
			case <-time.After(wait):
			}
			db.tendLease(ctx)
		}
	})
}

// tendLease renews the lease, or takes it if it is free.
func (db *DB) tendLease(ctx context.Context) {
	if db.o.skipRenewal() {
		return
	}
	limit := min(db.o.Timeout, max(db.o.Lease/3, time.Second))
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if token, leads := db.lease.token(); leads {
		if kept, err := db.renew(ctx, token); err == nil && !kept {
			db.o.Log.Warn("another shardboard leads the store now", "store", db.address)
			db.lease.lose(token)
		}
	} else {
		db.tryToLead(ctx)
	}
}

// tryToLead looks at the lease and takes it if it is free.
func (db *DB) tryToLead(ctx context.Context) {
	l, err := db.readLease(ctx)
	if err != nil {
		return // the state of the store tells
	}
	if l.Schema > len(db.o.migrations) {
		db.state.outdated(newerSchema(l.Schema, len(db.o.migrations)))
		return
	}
	if !db.free(l) {
		db.lease.saw(store.Leader{Name: l.Name, Since: l.Since.UTC(), Term: l.Token, Shared: true})
		return
	}
	db.lease.saw(store.Leader{Shared: true, Term: l.Token})
	if db.o.Follow || db.state.refused() != nil {
		return
	}
	waits := db.newerWaits(ctx)
	if waits && !db.waits.Load() {
		db.o.Log.Warn("does not take the lead of the store: a newer shardboard is about to upgrade it", "store", db.address)
	}
	if db.waits.Store(waits); waits {
		return
	}
	if l.Holder != "" && l.Holder != db.id {
		db.endSessionsOf(ctx, l.Holder) // it may have left a transaction open that would be in the way
	}
	took, err := db.take(ctx, l, len(db.o.migrations))
	switch {
	case err != nil:
		db.o.Log.Warn("the lead of the store could not be taken; trying again", "store", db.address, "err", err)
	case took && l.Holder != "" && l.Holder != db.id:
		db.o.Log.Warn("leads the store now: the lease of the one before was not renewed", "store", db.address, "before", l.Name)
	case took:
		db.o.Log.Info("leads the store now", "store", db.address)
	}
}

// Leads reports whether this process leads. It looks at the clock, so it is right at once after the
// process was paused.
func (db *DB) Leads() bool {
	_, leads := db.lease.token()
	return leads
}

// Leader describes who leads.
func (db *DB) Leader() store.Leader { return db.lease.leader() }

// Lead calls work while this process leads.
func (db *DB) Lead(ctx context.Context, work func(context.Context) error) error {
	for {
		leading, changed := db.lease.current()
		if leading == nil {
			select {
			case <-ctx.Done():
				return nil
			case <-changed:
			}
			continue
		}
		err := leadOnce(ctx, leading, work)
		// After a pause, a write can find out before the timer of the tenure does that it is over.
		if ctx.Err() != nil || err != nil && leading.Err() == nil && !errors.Is(err, store.ErrNotLeading) {
			return err
		}
		select { // work may have ended by itself
		case <-ctx.Done():
			return nil
		case <-leading.Done():
		}
	}
}

// leadOnce calls work with a context of the tenure, so that it has ended as soon as the tenure has.
func leadOnce(ctx, leading context.Context, work func(context.Context) error) error {
	leading, cancel := context.WithCancel(leading)
	defer cancel()
	defer context.AfterFunc(ctx, cancel)()
	return work(leading)
}

type termKey struct{}

// termOf is the token of the tenure that a context belongs to.
func termOf(ctx context.Context) (token int64, ok bool) {
	token, ok = ctx.Value(termKey{}).(int64)
	return token, ok
}

// leave gives the lease up and deletes what this replica left on the server.
func (db *DB) leave(ctx context.Context) {
	db.giveUp(ctx)
	_, _ = db.collection(replicas).DeleteOne(ctx, bson.D{{Key: "_id", Value: db.id}})
}

// giveUp gives the lease up, so that another replica need not wait for its end.
func (db *DB) giveUp(ctx context.Context) {
	token, leads := db.lease.token()
	if !leads {
		return
	}
	db.lease.lose(token) // first, so that nothing is begun any more when another one leads
	_, _ = db.collection(leadership).UpdateOne(ctx,
		bson.D{{Key: "_id", Value: leaseID}, {Key: "holder", Value: db.id}, {Key: "token", Value: token}},
		bson.D{{Key: "$set", Value: bson.D{{Key: "holder", Value: ""}, {Key: "until", Value: time.UnixMilli(0)}}}}) // else it ends by itself
}
