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
	if n.dbs[db] == nil {
		n.dbs[db] = map[string]*Coll{}
	}
	c := newColl(db, coll, uuid, opts, &n.examined)
	n.dbs[db][coll] = c
	return c
}

// Drop removes a collection and reports whether it existed.
func (n *Node) Drop(db, coll string) bool {
	if n.Coll(db, coll) == nil {
		return false
	}
	n.dbs[db][coll].dropped = true
	delete(n.dbs[db], coll)
	if len(n.dbs[db]) == 0 {
		delete(n.dbs, db)
	}
	return true
}

// DropDatabase removes all collections of a database and reports whether it had any.
func (n *Node) DropDatabase(db string) bool {
	for _, c := range n.dbs[db] {
		c.dropped = true
	}
	_, had := n.dbs[db]
	delete(n.dbs, db)
	return had
}

// Rename moves a collection within the node, keeping its UUID. dropTarget allows the target to exist.
// Errors: 26 NamespaceNotFound, 48 NamespaceExists.
func (n *Node) Rename(db, coll, toDB, toColl string, dropTarget bool) error {
	c := n.Coll(db, coll)
	if c == nil {
		return Errorf(status.NamespaceNotFound, "Source collection %s.%s does not exist", db, coll)
	}
	if db == toDB && coll == toColl {
		return Errorf(status.IllegalOperation, "Can't rename a collection to itself")
	}
	if n.Coll(toDB, toColl) != nil {
		if !dropTarget {
			return Errorf(status.NamespaceExists, "target namespace exists")
		}
		n.Drop(toDB, toColl)
	}
	n.Drop(db, coll)
	c.dropped = false
	if n.dbs[toDB] == nil {
		n.dbs[toDB] = map[string]*Coll{}
	}
	c.DB, c.Name = toDB, toColl
	n.dbs[toDB][toColl] = c
	return nil
}

// Databases are the names of databases with collections, sorted.
func (n *Node) Databases() []string { return slices.Sorted(maps.Keys(n.dbs)) }

// Colls are the collections of a database, sorted by name.
func (n *Node) Colls(db string) []*Coll {
	return slices.SortedFunc(maps.Values(n.dbs[db]), func(a, b *Coll) int { return cmp.Compare(a.Name, b.Name) })
}
