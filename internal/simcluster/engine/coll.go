package engine

import (
	"iter"
	"sync"

	"github.com/google/btree"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// RecordID is the position of a document in its collection's insertion order, from 1;
// never reused.
type RecordID uint64

// record is one stored document. It is immutable: an update creates a new record with
// the same id.
type record struct {
	id  RecordID
	doc bson.Raw
}

// Coll is one collection on one node.
type Coll struct {
	DB, Name string
	UUID     [16]byte
	Options  bson.Raw // as listCollections shows them; may be nil

	records *btree.BTreeG[*record] // by id
	indexes []*index               // the _id index first
	lastID  RecordID
	bytes   int64

	examined *Examined // its node's

	growth *growth
}

// degree of the trees: nodes of up to 2*degree-1 entries.
const degree = 32

func newColl(db, name string, uuid [16]byte, opts bson.Raw, examined *Examined) *Coll {
	c := &Coll{DB: db, Name: name, UUID: uuid, Options: opts, examined: examined, growth: &growth{}}
	c.records = btree.NewG(degree, func(a, b *record) bool { return a.id < b.id })
	c.indexes = []*index{newIndex(idSpec())}
	return c
}

// NS is "db.coll".
func (c *Coll) NS() string { return c.DB + "." + c.Name }

// Insert stores a document, which must have _id; the bytes are kept, not copied. A duplicate key is
// error 11000 with keyPattern and keyValue in Extra.
func (c *Coll) Insert(doc bson.Raw) (RecordID, error) {
	switch id := value.Field(doc, "_id"); id.Type {
	case 0:
		return 0, status.Errorf(status.BadValue, "can't insert document without _id")
	case bson.TypeArray, bson.TypeRegex, bson.TypeUndefined:
		return 0, status.Errorf(status.InvalidIdField, "The '_id' value cannot be of type %s", expr.TypeName(id))
	}
	r := &record{id: c.lastID + 1, doc: doc}
	if err := c.add(r); err != nil {
		return 0, err
	}
	c.lastID++
	c.growth.wake()
	return r.id, nil
}

// add stores a record that does not exist.
func (c *Coll) add(r *record) error {
	keys, err := c.check(r)
	if err != nil {
		return err
	}
	c.bytes += int64(len(r.doc))
	c.records.ReplaceOrInsert(r)
	for i, x := range c.indexes {
		x.add(keys[i])
	}
	return nil
}

// check makes a record's entries in every index, or returns why it cannot be stored.
func (c *Coll) check(r *record) ([][]entry, error) {
	if len(r.doc) > maxDocument {
		return nil, status.Errorf(status.BSONObjectTooLarge, "object to insert too large. size in bytes: %d, max size: %d",
			len(r.doc), maxDocument)
	}
	keys := make([][]entry, len(c.indexes))
	for i, x := range c.indexes {
		var err error
		if keys[i], err = x.check(c, r); err != nil {
			return nil, err
		}
	}
	return keys, nil
}

// Update replaces the document of a record. It fails like Insert, and with 47 if the
// record does not exist.
func (c *Coll) Update(id RecordID, doc bson.Raw) error {
	old := c.record(id)
	if old == nil {
		return status.Errorf(status.NoMatchingDocument, "no record %d in %s", id, c.NS())
	}
	if !value.Equal(value.Field(old.doc, "_id"), value.Field(doc, "_id")) {
		return status.Errorf(status.ImmutableField,
			"After applying the update, the (immutable) field '_id' was found to have been altered to _id: %s",
			value.Text(value.Field(doc, "_id")))
	}
	r := &record{id: id, doc: doc}
	keys, err := c.check(r)
	if err != nil {
		return err
	}
	for i, x := range c.indexes {
		x.replace(old, keys[i])
	}
	c.bytes += int64(len(doc) - len(old.doc))
	c.records.ReplaceOrInsert(r)
	return nil
}

// Delete removes a record and reports whether it existed.
func (c *Coll) Delete(id RecordID) bool {
	old, ok := c.records.Delete(&record{id: id})
	if !ok {
		return false
	}
	c.bytes -= int64(len(old.doc))
	for _, x := range c.indexes {
		x.remove(old)
	}
	return true
}

func (c *Coll) record(id RecordID) *record {
	r, _ := c.records.Get(&record{id: id})
	return r
}

// Get is the document of a record, or nil. The bytes never change.
func (c *Coll) Get(id RecordID) bson.Raw {
	if r := c.record(id); r != nil {
		return r.doc
	}
	return nil
}

// Len is the number of documents.
func (c *Coll) Len() int { return c.records.Len() }

// Bytes is the sum of the BSON sizes of all documents.
func (c *Coll) Bytes() int64 { return c.bytes }

// All iterates in insertion order; do not change the collection during the iteration.
func (c *Coll) All() iter.Seq2[RecordID, bson.Raw] {
	return func(yield func(RecordID, bson.Raw) bool) {
		c.records.Ascend(func(r *record) bool { return yield(r.id, r.doc) })
	}
}

// After iterates over what was inserted after a record, in order of insertion; do not change the collection meanwhile.
func (c *Coll) After(id RecordID) iter.Seq2[RecordID, bson.Raw] {
	return func(yield func(RecordID, bson.Raw) bool) {
		c.records.AscendGreaterOrEqual(&record{id: id + 1}, func(r *record) bool { return yield(r.id, r.doc) })
	}
}

// Grown is closed at the next insert.
func (c *Coll) Grown() <-chan struct{} {
	c.growth.mu.Lock()
	defer c.growth.mu.Unlock()
	if c.growth.next == nil {
		c.growth.next = make(chan struct{})
	}
	return c.growth.next
}

// growth tells those who wait for an insert.
type growth struct {
	mu   sync.Mutex
	next chan struct{} // nil: nobody waits
}

func (g *growth) wake() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.next != nil {
		close(g.next)
		g.next = nil
	}
}
