package simcluster

import (
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine"
	"shardboard/internal/simcluster/engine/status"
)

// transaction is a transaction of several statements. It works on a snapshot of all
// user collections, taken when it began; its changes are made to the collections
// themselves by commit. Until then the documents that it changed are locked: see
// document_locks.go. The fields below mu of the catalog are guarded by catalog.Mu.
type transaction struct {
	number  int64
	done    chan struct{} // closed when it is committed or aborted
	expires *time.Timer

	state      transactionState
	views      map[string]*view       // by shard and namespace
	byColl     map[*engine.Coll]*view // by the private copy
	placements map[string]placement   // of sharded collections at the beginning
	touched    map[string]struct{}    // namespaces that it read or wrote
	recovery   string                 // the first shard that it wrote to
	order      []*view                // with changes, in the order of their first
}

type transactionState int

const (
	transactionOpen transactionState = iota
	transactionCommitted
	transactionAborted
)

// placement identifies where the chunks of a collection were.
type placement struct {
	epoch bson.ObjectID
	major uint32
}

// view is what a transaction sees of one collection on one shard.
type view struct {
	node    *engine.Node
	shard   string
	live    *engine.Coll // nil: the transaction creates it
	coll    *engine.Coll // the private copy
	changes map[engine.RecordID]*documentChange
	order   []engine.RecordID
}

// documentChange is what a transaction did to one document.
type documentChange struct {
	before bson.Raw // nil: it inserted the document
	after  bson.Raw // nil: it deleted the document
}

// transactionKey is the context key of a command's *transaction.
type transactionKey struct{}

// transactionOf is the transaction that a command belongs to, or nil.
func transactionOf(ctx context.Context) *transaction {
	tx, _ := ctx.Value(transactionKey{}).(*transaction)
	return tx
}

// beginTransaction takes the snapshot and limits the lifetime.
func (c *Cluster) beginTransaction(number int64) *transaction {
	tx := &transaction{
		number: number, done: make(chan struct{}), views: make(map[string]*view),
		byColl: make(map[*engine.Coll]*view), placements: make(map[string]placement), touched: make(map[string]struct{}),
	}
	c.catalog.Mu.Lock()
	defer c.catalog.Mu.Unlock()
	for shard, node := range c.catalog.Shards {
		for _, db := range node.Databases() {
			for _, coll := range node.Colls(db) {
				tx.add(&view{node: node, shard: shard, live: coll, coll: coll.Snapshot()})
			}
		}
	}
	for _, ns := range c.catalog.Namespaces() {
		tx.placements[ns] = c.placementOf(ns)
	}
	c.transactions[tx] = struct{}{}
	tx.expires = time.AfterFunc(c.opts.TransactionLifetime, func() { c.abort(tx) })
	return tx
}

func (tx *transaction) add(v *view) {
	tx.views[v.shard+"/"+v.coll.NS()] = v
	tx.byColl[v.coll] = v
}

// placementOf identifies the current placement of a collection; it is zero for one that
// is not sharded. The caller holds catalog.Mu.
func (c *Cluster) placementOf(ns string) placement {
	r := c.catalog.Routing(ns)
	if r == nil {
		return placement{}
	}
	return placement{epoch: r.Epoch, major: r.Version().T}
}

// use notes that the transaction touches a collection. It fails when the snapshot cannot
// be used because the collection's chunks moved. The caller holds catalog.Mu.
func (c *Cluster) use(tx *transaction, ns string) error {
	if tx.state != transactionOpen {
		return notInProgress(tx.number)
	}
	tx.touched[ns] = struct{}{}
	if c.placementOf(ns) != tx.placements[ns] {
		return status.Errorf(status.MigrationConflict, "Chunk placement of %s changed after the transaction began", ns)
	}
	return nil
}

// seenBy replaces the collections of a target by what the transaction sees of them. The
// caller holds catalog.Mu.
func (c *Cluster) seenBy(tx *transaction, t target) (target, error) {
	if tx == nil {
		return t, nil
	}
	if err := c.use(tx, t.ns); err != nil {
		return t, err
	}
	for i, s := range t.sources {
		v := tx.views[s.shard+"/"+t.ns]
		switch {
		case v != nil:
			t.sources[i].coll = v.coll
		case s.coll != nil && t.routing == nil:
			return t, createdLater(t.ns)
		}
	}
	return t, nil
}

// createdLater is the error of a snapshot that is older than the collection.
func createdLater(ns string) error {
	return status.Errorf(status.SnapshotUnavailable, "Unable to read from a snapshot due to pending collection catalog changes "+
		"to collection '%s'; please retry the operation", ns)
}

// collection finds or creates the transaction's copy of a collection for an insert. live
// is the collection itself, nil when there is none. The caller holds catalog.Mu for
// writing.
func (c *Cluster) collectionIn(tx *transaction, db, name, shard string, sharded bool, live *engine.Coll) (*engine.Coll, error) {
	ns := db + "." + name
	if err := c.use(tx, ns); err != nil {
		return nil, err
	}
	if v := tx.views[shard+"/"+ns]; v != nil {
		return v.coll, nil
	}
	v := &view{node: c.catalog.Shards[shard], shard: shard, live: live}
	switch {
	case sharded:
		v.coll = live.Snapshot() // just created on this shard, like the others
	case live != nil:
		return nil, createdLater(ns)
	default:
		v.coll = engine.NewNode(shard).Create(db, name, c.catalog.UUID(), nil)
		tx.change(v)
	}
	tx.add(v)
	return v.coll, nil
}

// change notes that the transaction changes a collection.
func (tx *transaction) change(v *view) {
	if v.changes != nil {
		return
	}
	v.changes = make(map[engine.RecordID]*documentChange)
	tx.order = append(tx.order, v)
	if tx.recovery == "" {
		tx.recovery = v.shard
	}
}
