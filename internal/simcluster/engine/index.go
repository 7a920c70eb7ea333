package engine

import (
	"github.com/google/btree"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// index is one index of a collection: entries ordered by key, then by record.
type index struct {
	name    string
	spec    bson.Raw // as listIndexes shows it
	key     bson.Raw // the key pattern
	fields  []indexField
	unique  bool
	sparse  bool
	partial *query.Filter // nil = all documents

	tree    *btree.BTreeG[entry]
	multi   uint32 // bit per field: arrays occurred
	dropped bool
}

type indexField struct {
	name       string
	path       []string
	descending bool
	hashed     bool
}

// entries returns the keys of a document in this index.
func (x *index) entries(r *record) ([]entry, uint32, error) {
	if x.partial != nil {
		if ok, err := x.partial.Match(r.doc); !ok || err != nil {
			return nil, 0, err
		}
	}
	return x.keys(r)
}

// check makes the entries of a new version of a record and returns an error if they
// violate uniqueness.
func (x *index) check(c *Coll, r *record) ([]entry, error) {
	keys, multi, err := x.entries(r)
	if err != nil {
		return nil, err
	}
	if x.unique {
		for i := range keys {
			if _, taken := x.holder(&keys[i]); taken {
				return nil, duplicateKey(c.NS(), x, &keys[i])
			}
		}
	}
	x.multi |= multi
	return keys, nil
}

// holder is another record that has the key, if there is one.
func (x *index) holder(key *entry) (id RecordID, taken bool) {
	// Keys are often ascending: a key above all others cannot be a duplicate.
	if top, ok := x.tree.Max(); !ok || x.compareKeys(&top, key) < 0 {
		return 0, false
	}
	low := *key
	low.rec = &record{id: before, doc: key.rec.doc}
	x.tree.AscendGreaterOrEqual(low, func(e entry) bool {
		if x.compareKeys(&e, key) != 0 {
			return false
		}
		id, taken = e.rec.id, e.rec.id != key.rec.id
		return !taken
	})
	return id, taken
}

func (x *index) add(keys []entry) {
	for _, e := range keys {
		x.tree.ReplaceOrInsert(e)
	}
}

func (x *index) remove(r *record) {
	keys, _, err := x.entries(r)
	if err != nil {
		return // cannot fail: the document was indexed before
	}
	for _, e := range keys {
		x.tree.Delete(e)
	}
}

// replace replaces the entries of the old version by those of the new one; an unchanged
// key is overwritten in place.
func (x *index) replace(old *record, keys []entry) {
	gone, _, err := x.entries(old)
	if err == nil {
		for i := range gone {
			stays := false
			for j := range keys {
				stays = stays || x.compareKeys(&gone[i], &keys[j]) == 0
			}
			if !stays {
				x.tree.Delete(gone[i])
			}
		}
	}
	x.add(keys)
}

// first is the first record whose key begins with the values.
func (x *index) first(values ...bson.RawValue) *record {
	low := bound(len(x.fields), values, before)
	var found *record
	x.tree.AscendGreaterOrEqual(low, func(e entry) bool {
		if x.compareKeys(&e, &low) == 0 {
			found = e.rec
		}
		return false
	})
	return found
}

// document is the key as a document with the index's field names, hashes as int64.
func (x *index) document(e *entry) bson.Raw {
	b := value.NewBuilder(64)
	for i, f := range x.fields {
		b.Append(f.name, e.value(i))
	}
	return b.Raw()
}

// duplicateKey is error 11000 with the text of MongoDB 5.0.
func duplicateKey(ns string, x *index, key *entry) *Error {
	doc := x.document(key)
	e := Errorf(status.DuplicateKey, "E11000 duplicate key error collection: %s index: %s dup key: %s",
		ns, x.name, value.Text(value.Doc(doc)))
	e.Extra = bson.D{{Key: "keyPattern", Value: x.key}, {Key: "keyValue", Value: doc}}
	return e
}
