package simcluster

import (
	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// commit makes the changes of an open transaction, all at once. When that is impossible
// because something other than a write changed the collections, it aborts.
func (c *Cluster) commit(tx *transaction) error {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	switch tx.state {
	case transactionCommitted:
		return nil
	case transactionAborted:
		return notInProgress(tx.number)
	}
	if err := c.makeChanges(tx); err != nil {
		c.finish(tx, transactionAborted)
		return err
	}
	c.finish(tx, transactionCommitted)
	return nil
}

// makeChanges checks everything that could fail before it makes the first change.
func (c *Cluster) makeChanges(tx *transaction) error {
	for _, v := range tx.order {
		ns := v.coll.NS()
		if err := c.catalog.CheckPrimaryMove(v.coll.DB, v.coll.Name); err != nil {
			return err
		}
		if c.placementOf(ns) != tx.placements[ns] || v.node.Coll(v.coll.DB, v.coll.Name) != v.live {
			return status.Errorf(status.NoSuchTransaction, "Transaction %d was aborted because %s changed.", tx.number, ns)
		}
		for id, ch := range v.changes {
			if ch.before != nil && !v.live.Unchanged(id, ch.before) {
				return status.Errorf(status.NoSuchTransaction, "Transaction %d was aborted because documents of %s moved.", tx.number, ns)
			}
		}
	}
	for _, v := range tx.order {
		if v.live == nil {
			c.catalog.EnsureDatabase(v.coll.DB)
			v.live = v.node.Create(v.coll.DB, v.coll.Name, v.coll.UUID, v.coll.Options)
		}
		if err := v.live.Apply(v.list()); err != nil {
			return err
		}
	}
	c.catalog.Timestamp()
	return nil
}

// writtenShards lists the shards to which an open transaction has written. The caller
// holds catalog.Mu.
func (tx *transaction) writtenShards() (shards []string) {
	if tx == nil {
		return nil
	}
	for _, v := range tx.order {
		shards = append(shards, v.shard)
	}
	return shards
}

// list is the view's changes in the order in which they were made.
func (v *view) list() []engine.Change {
	list := make([]engine.Change, 0, len(v.order))
	for _, id := range v.order {
		ch := v.changes[id]
		if ch.before == nil {
			id = 0
		}
		if id != 0 || ch.after != nil {
			list = append(list, engine.Change{ID: id, Doc: ch.after})
		}
	}
	return list
}

// abort ends a transaction without its changes, unless it has ended already.
func (c *Cluster) abort(tx *transaction) {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	if tx.state == transactionOpen {
		c.finish(tx, transactionAborted)
	}
}

// abortTransactions aborts all open transactions.
func (c *Cluster) abortTransactions() {
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	for tx := range c.transactions {
		c.finish(tx, transactionAborted)
	}
}

// finish releases the locks and wakes those who wait for them. The caller holds
// catalog.Mu for writing.
func (c *Cluster) finish(tx *transaction, s transactionState) {
	tx.state = s
	tx.expires.Stop()
	for _, v := range tx.order {
		c.locks.release(v.live, tx)
	}
	tx.views, tx.byColl, tx.order, tx.placements, tx.touched = nil, nil, nil, nil, nil
	delete(c.transactions, tx)
	close(tx.done)
}

func notInProgress(number int64) error {
	return status.Errorf(status.NoSuchTransaction, "Transaction %d has been aborted.", number)
}
