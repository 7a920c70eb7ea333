package simcluster

import (
	"context"
	"errors"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// documentLocks are the documents that open transactions changed, by what those see of a collection. catalog.Mu guards
// them. A write that meets one waits for the transaction, or conflicts with it when it
// belongs to another transaction itself.
type documentLocks map[*engine.Coll]map[*transaction]*view

func (l documentLocks) add(coll *engine.Coll, tx *transaction, v *view) {
	if l[coll] == nil {
		l[coll] = make(map[*transaction]*view)
	}
	l[coll][tx] = v
}

func (l documentLocks) release(coll *engine.Coll, tx *transaction) {
	if delete(l[coll], tx); len(l[coll]) == 0 {
		delete(l, coll)
	}
}

// lockedError says that an open transaction is in the way of a write.
type lockedError struct{ by *transaction }

func (e *lockedError) Error() string { return writeConflict().Error() }

func writeConflict() error {
	return status.Errorf(status.WriteConflict, "WriteConflict error: this operation conflicted with another operation. "+
		"Please retry your operation or multi-document transaction.")
}

// check returns a lockedError when a transaction other than tx locks the record id or
// has a document with a unique key of doc. id is 0 for a new document, doc is nil for a
// removal.
func (l documentLocks) check(coll *engine.Coll, id engine.RecordID, doc bson.Raw, tx *transaction) error {
	wanted := []engine.RecordID{id}
	if doc != nil && len(l[coll]) > 0 {
		wanted = append(wanted, coll.Holders(doc, id)...)
	}
	for other, v := range l[coll] {
		if other == tx {
			continue
		}
		for _, id := range wanted {
			if ch := v.changes[id]; ch != nil && ch.before != nil {
				return &lockedError{other}
			}
		}
		for _, ch := range v.changes {
			if doc != nil && ch.after != nil && coll.Collide(doc, ch.after) {
				return &lockedError{other}
			}
		}
	}
	return nil
}

// checkFree returns a lockedError when a transaction other than tx changed one of the
// documents found. The caller holds catalog.Mu.
func (ts *transactions) checkFree(tx *transaction, found []foundDocument) error {
	if tx != nil || len(ts.locks) == 0 {
		return nil // a transaction checks each document when it changes it
	}
	for _, rec := range found {
		if err := ts.locks.check(rec.source.coll, rec.id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}

// lockedWrite runs a write to a collection with catalog.Mu held. When a transaction is in
// its way, it waits for the end of that and runs the write again; so write must not have
// changed anything when it returns a lockedError.
func (ts *transactions) lockedWrite(ctx context.Context, db, coll string, write func() error) error {
	for {
		err := func() error {
			ts.catalog.Mu.Lock()
			defer ts.catalog.Mu.Unlock()
			ts.catalog.Timestamp()
			if err := ts.catalog.CheckPrimaryMove(db, coll); err != nil {
				return err
			}
			return write()
		}()
		var locked *lockedError
		if !errors.As(err, &locked) {
			return err
		}
		if transactionOf(ctx) != nil {
			return writeConflict()
		}
		if err := waitFor(ctx, locked.by); err != nil {
			return err
		}
	}
}

// waitFor waits for the end of a transaction, as long as the command's client is there.
func waitFor(ctx context.Context, tx *transaction) error {
	var gone <-chan struct{}
	if conn, ok := ctx.Value(connectionKey{}).(*engine.Conn); ok {
		gone = conn.Gone
	}
	select {
	case <-tx.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-gone:
		return status.Errorf(status.ClientDisconnect, "operation was interrupted because a client disconnected")
	}
}

// connectionKey is the context key of a command's *engine.Conn.
type connectionKey struct{}

// awaitTransactions waits until no open transaction has touched one of the namespaces: a
// change of a collection itself, such as its removal, needs it alone.
func (ts *transactions) awaitTransactions(ctx context.Context, concerns func(ns string) bool) error {
	for {
		tx := ts.transactionTouching(concerns)
		if tx == nil {
			return nil
		}
		if err := waitFor(ctx, tx); err != nil {
			return err
		}
	}
}

func (ts *transactions) transactionTouching(concerns func(ns string) bool) *transaction {
	ts.catalog.Mu.Lock()
	defer ts.catalog.Mu.Unlock()
	for tx := range ts.open {
		for ns := range tx.touched {
			if concerns(ns) {
				return tx
			}
		}
	}
	return nil
}

func is(ns string) func(string) bool { return func(other string) bool { return other == ns } }

func in(db string) func(string) bool {
	return func(ns string) bool { return strings.HasPrefix(ns, db+".") }
}
