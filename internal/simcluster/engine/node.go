package engine

import (
	"cmp"
	"maps"
	"slices"
	"sync/atomic"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// Node is the data of one shard (or of the config server).
type Node struct {
	Name string
	dbs  map[string]map[string]*Coll

	examined Examined
}

// Examined counts what all queries on a node have looked at, like the metrics
// queryExecutor.scanned and scannedObjects of serverStatus.
type Examined struct{ Keys, Docs atomic.Int64 }

// Examined is the node's counter.
func (n *Node) Examined() *Examined { return &n.examined }

// NewNode makes an empty node.
func NewNode(name string) *Node {
	return &Node{Name: name, dbs: map[string]map[string]*Coll{}}
}

// Coll is the collection, nil when it does not exist.
func (n *Node) Coll(db, coll string) *Coll { return n.dbs[db][coll] }

// Create makes a collection with its _id index; an existing one is returned unchanged.
// opts is the options document of listCollections, nil for none.
func (n *Node) Create(db, coll string, uuid [16]byte, opts bson.Raw) *Coll {
	if c := n.Coll(db, coll); c != nil {
		return c
	}
	c := newColl(db, coll, uuid, opts, &n.examined)
	n.put(c)
	return c
}

func (n *Node) put(c *Coll) {
	if n.dbs[c.DB] == nil {
		n.dbs[c.DB] = map[string]*Coll{}
	}
	n.dbs[c.DB][c.Name] = c
}

// Drop removes a collection, if it is there.
func (n *Node) Drop(db, coll string) {
	delete(n.dbs[db], coll)
	if len(n.dbs[db]) == 0 {
		delete(n.dbs, db)
	}
}

// DropDatabase removes all collections of a database.
func (n *Node) DropDatabase(db string) { delete(n.dbs, db) }

// Rename moves a collection, which must exist, within the node; it keeps its UUID and replaces one of the new name.
func (n *Node) Rename(db, coll, toDB, toColl string) {
	c := n.Coll(db, coll)
	n.Drop(db, coll)
	c.DB, c.Name = toDB, toColl
	n.put(c)
}

// Databases are the names of databases with collections, sorted.
func (n *Node) Databases() []string { return slices.Sorted(maps.Keys(n.dbs)) }

// Colls are the collections of a database, sorted by name.
func (n *Node) Colls(db string) []*Coll {
	return slices.SortedFunc(maps.Values(n.dbs[db]), func(a, b *Coll) int { return cmp.Compare(a.Name, b.Name) })
}

// snapshotIDs is the first record id of documents that are inserted into a snapshot, so
// that they never have the id of a record of the collection.
const snapshotIDs RecordID = 1 << 62

// Snapshot returns the collection as it is now. Both can be changed afterwards without
// effect on the other; their trees share all nodes that neither changed. No other
// goroutine may use the collection during the call, not even for reading.
func (c *Coll) Snapshot() *Coll {
	s := *c
	s.records = c.records.Clone()
	s.growth = &growth{}
	s.lastID = max(c.lastID, snapshotIDs)
	s.indexes = make([]*index, len(c.indexes))
	for i, x := range c.indexes {
		copied := *x
		copied.tree = x.tree.Clone()
		s.indexes[i] = &copied
	}
	return &s
}

// Unchanged reports whether the record still has exactly this version of its document,
// as returned by Get.
func (c *Coll) Unchanged(id RecordID, doc bson.Raw) bool {
	r := c.record(id)
	return r != nil && len(doc) > 0 && &r.doc[0] == &doc[0]
}

// Holders lists the records other than except that have a unique key of the document.
func (c *Coll) Holders(doc bson.Raw, except RecordID) (ids []RecordID) {
	r := &record{id: except, doc: doc}
	for _, x := range c.indexes {
		if !x.unique {
			continue
		}
		keys, _, err := x.entries(r)
		if err != nil {
			continue // the write itself fails
		}
		for i := range keys {
			if id, taken := x.holder(&keys[i]); taken {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Collide reports whether two documents have the same key in a unique index.
func (c *Coll) Collide(a, b bson.Raw) bool {
	for _, x := range c.indexes {
		if !x.unique {
			continue
		}
		ofA, _, err1 := x.entries(&record{doc: a})
		ofB, _, err2 := x.entries(&record{doc: b})
		if err1 != nil || err2 != nil {
			continue
		}
		for i := range ofA {
			for j := range ofB {
				if x.compareKeys(&ofA[i], &ofB[j]) == 0 {
					return true
				}
			}
		}
	}
	return false
}

// Change is one change of Apply: a new document when ID is 0, a removal when Doc is nil,
// otherwise the new version of a record.
type Change struct {
	ID  RecordID
	Doc bson.Raw
}

// Apply makes all changes or, on an error, none. The result alone has to be free of
// duplicate keys, so two documents can exchange a key.
func (c *Coll) Apply(changes []Change) error {
	before := c.Snapshot()
	before.lastID = c.lastID
	if err := c.apply(changes); err != nil {
		c.records, c.bytes, c.lastID = before.records, before.bytes, before.lastID
		for i, x := range c.indexes {
			x.tree, x.multi = before.indexes[i].tree, before.indexes[i].multi
		}
		return err
	}
	return nil
}

func (c *Coll) apply(changes []Change) error {
	for _, ch := range changes {
		if ch.ID != 0 && !c.Delete(ch.ID) {
			return status.Errorf(status.NoMatchingDocument, "no record %d in %s", ch.ID, c.NS())
		}
	}
	for _, ch := range changes {
		switch {
		case ch.Doc == nil:
		case ch.ID == 0:
			if _, err := c.Insert(ch.Doc); err != nil {
				return err
			}
		default:
			if err := c.add(&record{id: ch.ID, doc: ch.Doc}); err != nil {
				return err
			}
		}
	}
	return nil
}
