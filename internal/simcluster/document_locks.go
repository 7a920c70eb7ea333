package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// documentLocks are the documents that open transactions changed. catalog.Mu guards
// them. A write that meets one waits for the transaction, or conflicts with it when it
// belongs to another transaction itself.
type documentLocks map[*engine.Coll]*collectionLocks

type collectionLocks struct {
	owners map[engine.RecordID]*transaction
	views  map[*transaction]*view // of the transactions that changed the collection
}

func (l documentLocks) of(coll *engine.Coll) *collectionLocks {
	if l[coll] == nil {
		l[coll] = &collectionLocks{owners: make(map[engine.RecordID]*transaction), views: make(map[*transaction]*view)}
	}
	return l[coll]
}

func (l documentLocks) release(coll *engine.Coll, tx *transaction) {
	held := l[coll]
	if held == nil {
		return
	}
	for id, owner := range held.owners {
		if owner == tx {
			delete(held.owners, id)
		}
	}
	if delete(held.views, tx); len(held.views) == 0 {
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
	held := l[coll]
	if held == nil {
		return nil
	}
	if owner := held.owners[id]; owner != nil && owner != tx {
		return &lockedError{owner}
	}
	if doc == nil {
		return nil
	}
	for _, holder := range coll.Holders(doc, id) {
		if owner := held.owners[holder]; owner != nil && owner != tx {
			return &lockedError{owner}
		}
	}
	for other, v := range held.views {
		if other == tx {
			continue
		}
		for _, ch := range v.changes {
			if ch.after != nil && coll.Collide(doc, ch.after) {
				return &lockedError{other}
			}
		}
	}
	return nil
}

// checkFree returns a lockedError when a transaction other than tx changed one of the
// documents found. The caller holds catalog.Mu.
func (c *Cluster) checkFree(tx *transaction, found []foundDocument) error {
	if tx != nil || len(c.locks) == 0 {
		return nil // a transaction checks each document when it changes it
	}
	for _, rec := range found {
		if err := c.locks.check(rec.source.coll, rec.id, nil, nil); err != nil {
			return err
		}
	}
	return nil
}
