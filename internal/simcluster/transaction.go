package simcluster

import (
	"cmp"
	"context"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/catalog"
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

// transactions are the sessions of all clients with their transactions, and the documents that open transactions
// have locked.
type transactions struct {
	catalog  *catalog.Cluster
	lifetime time.Duration // of a transaction at most
	sessions sessions

	// Guarded by catalog.Mu.
	open  map[*transaction]struct{}
	locks documentLocks
}

func newTransactions(c *catalog.Cluster, lifetime time.Duration) *transactions {
	return &transactions{catalog: c, lifetime: lifetime, open: make(map[*transaction]struct{}), locks: make(documentLocks)}
}

// transactionKey is the context key of a command's *transaction.
type transactionKey struct{}

// transactionOf is the transaction that a command belongs to, or nil.
func transactionOf(ctx context.Context) *transaction {
	tx, _ := ctx.Value(transactionKey{}).(*transaction)
	return tx
}

// begin takes the snapshot and limits the lifetime.
func (ts *transactions) begin(number int64) *transaction {
	tx := &transaction{
		number: number, done: make(chan struct{}), views: make(map[string]*view),
		byColl: make(map[*engine.Coll]*view), placements: make(map[string]placement), touched: make(map[string]struct{}),
	}
	ts.catalog.Mu.Lock()
	defer ts.catalog.Mu.Unlock()
	for shard, node := range ts.catalog.Shards {
		for _, db := range node.Databases() {
			for _, coll := range node.Colls(db) {
				tx.add(&view{node: node, shard: shard, live: coll, coll: coll.Snapshot()})
			}
		}
	}
	for _, ns := range ts.catalog.Namespaces() {
		tx.placements[ns] = ts.placementOf(ns)
	}
	ts.open[tx] = struct{}{}
	tx.expires = time.AfterFunc(ts.lifetime, func() { ts.abort(tx) })
	return tx
}

func (tx *transaction) add(v *view) {
	tx.views[v.shard+"/"+v.coll.NS()] = v
	tx.byColl[v.coll] = v
}

// placementOf identifies the current placement of a collection; it is zero for one that
// is not sharded. The caller holds catalog.Mu.
func (ts *transactions) placementOf(ns string) placement {
	r := ts.catalog.Routing(ns)
	if r == nil {
		return placement{}
	}
	return placement{epoch: r.Epoch, major: r.Version().T}
}

// use notes that the transaction touches a collection. It fails when the snapshot cannot
// be used because the collection's chunks moved. The caller holds catalog.Mu.
func (ts *transactions) use(tx *transaction, ns string) error {
	if tx.state != transactionOpen {
		return notInProgress(tx.number)
	}
	tx.touched[ns] = struct{}{}
	if ts.placementOf(ns) != tx.placements[ns] {
		return status.Errorf(status.MigrationConflict, "Chunk placement of %s changed after the transaction began", ns)
	}
	return nil
}

// seenBy replaces the collections of a target by what the transaction sees of them. The
// caller holds catalog.Mu.
func (ts *transactions) seenBy(tx *transaction, t target) (target, error) {
	if tx == nil {
		return t, nil
	}
	if err := ts.use(tx, t.ns); err != nil {
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
func (ts *transactions) collectionIn(tx *transaction, db, name, shard string, sharded bool, live *engine.Coll) (*engine.Coll, error) {
	ns := db + "." + name
	if err := ts.use(tx, ns); err != nil {
		return nil, err
	}
	if v := tx.views[shard+"/"+ns]; v != nil {
		return v.coll, nil
	}
	v := &view{node: ts.catalog.Shards[shard], shard: shard, live: live}
	switch {
	case sharded:
		v.coll = live.Snapshot() // just created on this shard, like the others
	case live != nil:
		return nil, createdLater(ns)
	default:
		v.coll = engine.NewNode(shard).Create(db, name, ts.catalog.UUID(), nil)
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
	tx.recovery = cmp.Or(tx.recovery, v.shard)
}

// write inserts a document (id 0), replaces it, or removes it (doc nil): at once, or as part of a transaction, for
// which coll is the transaction's copy. done is false where there was nothing to remove. The caller holds catalog.Mu
// for writing.
func (ts *transactions) write(tx *transaction, coll *engine.Coll, id engine.RecordID, doc bson.Raw) (done bool, err error) {
	if doc != nil {
		if err := ts.catalog.CheckDocument(coll, doc); err != nil {
			return false, err
		}
	}
	var v *view
	if tx == nil {
		err = ts.locks.check(coll, id, doc, nil)
	} else {
		v = tx.byColl[coll]
		err = ts.checkChange(tx, v, id, doc)
	}
	if err != nil {
		return false, err
	}
	before := coll.Get(id)
	switch {
	case doc == nil && !coll.Delete(id):
		return false, nil
	case doc == nil:
	case id == 0:
		id, err = coll.Insert(doc)
	default:
		err = coll.Update(id, doc)
	}
	if err == nil && tx != nil {
		ts.note(tx, v, id, before, doc)
	}
	return err == nil, err
}

// checkChange fails with a write conflict when the collection itself, or another
// transaction, has a newer version of the record or a document with the same unique key.
func (ts *transactions) checkChange(tx *transaction, v *view, id engine.RecordID, doc bson.Raw) error {
	if v.node.Coll(v.coll.DB, v.coll.Name) != v.live {
		return writeConflict()
	}
	if v.live == nil {
		return nil
	}
	if ts.locks.check(v.live, id, doc, tx) != nil {
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
func (ts *transactions) note(tx *transaction, v *view, id engine.RecordID, before, after bson.Raw) {
	tx.change(v)
	if ch := v.changes[id]; ch != nil {
		ch.after = after
		return
	}
	v.changes[id] = &documentChange{before: before, after: after}
	v.order = append(v.order, id)
	if v.live != nil {
		ts.locks.add(v.live, tx, v)
	}
}

// commit makes the changes of an open transaction, all at once. When that is impossible
// because something other than a write changed the collections, it aborts.
func (ts *transactions) commit(tx *transaction) error {
	ts.catalog.Mu.Lock()
	defer ts.catalog.Mu.Unlock()
	switch tx.state {
	case transactionCommitted:
		return nil
	case transactionAborted:
		return notInProgress(tx.number)
	}
	if err := ts.makeChanges(tx); err != nil {
		ts.finish(tx, transactionAborted)
		return err
	}
	ts.finish(tx, transactionCommitted)
	return nil
}

// makeChanges checks everything that could fail before it makes the first change.
func (ts *transactions) makeChanges(tx *transaction) error {
	for _, v := range tx.order {
		ns := v.coll.NS()
		if err := ts.catalog.CheckPrimaryMove(v.coll.DB, v.coll.Name); err != nil {
			return err
		}
		if ts.placementOf(ns) != tx.placements[ns] || v.node.Coll(v.coll.DB, v.coll.Name) != v.live {
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
			ts.catalog.EnsureDatabase(v.coll.DB)
			v.live = v.node.Create(v.coll.DB, v.coll.Name, v.coll.UUID, v.coll.Options)
		}
		if err := v.live.Apply(v.list()); err != nil {
			return err
		}
	}
	ts.catalog.Timestamp()
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
func (ts *transactions) abort(tx *transaction) {
	ts.catalog.Mu.Lock()
	defer ts.catalog.Mu.Unlock()
	if tx.state == transactionOpen {
		ts.finish(tx, transactionAborted)
	}
}

// abortAll aborts all open transactions.
func (ts *transactions) abortAll() {
	ts.catalog.Mu.Lock()
	defer ts.catalog.Mu.Unlock()
	for tx := range ts.open {
		ts.finish(tx, transactionAborted)
	}
}

// finish releases the locks and wakes those who wait for them. The caller holds
// catalog.Mu for writing.
func (ts *transactions) finish(tx *transaction, s transactionState) {
	tx.state = s
	tx.expires.Stop()
	for _, v := range tx.order {
		ts.locks.release(v.live, tx)
	}
	tx.views, tx.byColl, tx.order, tx.placements, tx.touched = nil, nil, nil, nil, nil
	delete(ts.open, tx)
	close(tx.done)
}

func notInProgress(number int64) error {
	return status.Errorf(status.NoSuchTransaction, "Transaction %d has been aborted.", number)
}
