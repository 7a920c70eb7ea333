package simcluster

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
)

// insertInto, replaceIn and deleteFrom change a document: at once, or as part of a
// transaction, for which coll is the transaction's copy. The caller holds catalog.Mu
// for writing.
func (c *Cluster) insertInto(tx *transaction, coll *engine.Coll, doc bson.Raw) error {
	if err := c.catalog.CheckDocument(coll, doc); err != nil {
		return err
	}
	if tx == nil {
		if err := c.locks.check(coll, 0, doc, nil); err != nil {
			return err
		}
		_, err := coll.Insert(doc)
		return err
	}
	v := tx.byColl[coll]
	if err := c.checkChange(tx, v, 0, doc); err != nil {
		return err
	}
	id, err := coll.Insert(doc)
	if err == nil {
		c.note(tx, v, id, nil, doc)
	}
	return err
}

func (c *Cluster) replaceIn(tx *transaction, coll *engine.Coll, id engine.RecordID, doc bson.Raw) error {
	if err := c.catalog.CheckDocument(coll, doc); err != nil {
		return err
	}
	if tx == nil {
		if err := c.locks.check(coll, id, doc, nil); err != nil {
			return err
		}
		return coll.Update(id, doc)
	}
	v := tx.byColl[coll]
	if err := c.checkChange(tx, v, id, doc); err != nil {
		return err
	}
	before := coll.Get(id)
	err := coll.Update(id, doc)
	if err == nil {
		c.note(tx, v, id, before, doc)
	}
	return err
}

func (c *Cluster) deleteFrom(tx *transaction, coll *engine.Coll, id engine.RecordID) (bool, error) {
	if tx == nil {
		if err := c.locks.check(coll, id, nil, nil); err != nil {
			return false, err
		}
		return coll.Delete(id), nil
	}
	v := tx.byColl[coll]
	if err := c.checkChange(tx, v, id, nil); err != nil {
		return false, err
	}
	before := coll.Get(id)
	if !coll.Delete(id) {
		return false, nil
	}
	c.note(tx, v, id, before, nil)
	return true, nil
}

// checkChange fails with a write conflict when the collection itself, or another
// transaction, has a newer version of the record or a document with the same unique key.
func (c *Cluster) checkChange(tx *transaction, v *view, id engine.RecordID, doc bson.Raw) error {
	if v.node.Coll(v.coll.DB, v.coll.Name) != v.live {
		return writeConflict()
	}
	if v.live == nil {
		return nil
	}
	if c.locks.check(v.live, id, doc, tx) != nil {
		return writeConflict()
	}
	if _, own := v.changes[id]; !own && id != 0 && !v.live.Unchanged(id, v.coll.Get(id)) {
		return writeConflict()
	}
	if doc == nil {
		return nil
	}
	for _, holder := range v.live.Holders(doc, id) {
		_, own := v.changes[holder]
		if !own && !v.live.Unchanged(holder, v.coll.Get(holder)) {
			return writeConflict() // the snapshot does not have that document: it is newer
		}
	}
	return nil
}

// note adds a change to the transaction and locks the document.
func (c *Cluster) note(tx *transaction, v *view, id engine.RecordID, before, after bson.Raw) {
	tx.change(v)
	if ch := v.changes[id]; ch != nil {
		ch.after = after
		return
	}
	v.changes[id] = &documentChange{before: before, after: after}
	v.order = append(v.order, id)
	if v.live == nil {
		return
	}
	held := c.locks.of(v.live)
	held.views[tx] = v
	if before != nil {
		held.owners[id] = tx
	}
}
