package engine

import (
	"bytes"
	"cmp"
	"fmt"
	"strings"

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

	tree  *btree.BTreeG[entry]
	multi uint32 // bit per field: arrays occurred
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
	low.rec = &record{id: before}
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

// document is the key as a document with the index's field names, hashes as int64.
func (x *index) document(e *entry) bson.Raw {
	b := value.NewBuilder(64)
	for i, f := range x.fields {
		b.Append(f.name, e.values[i])
	}
	return b.Raw()
}

// duplicateKey is error 11000 with the text of MongoDB 5.0.
func duplicateKey(ns string, x *index, key *entry) *status.Error {
	doc := x.document(key)
	e := status.Errorf(status.DuplicateKey, "E11000 duplicate key error collection: %s index: %s dup key: %s",
		ns, x.name, value.Text(value.Doc(doc)))
	e.Extra = value.D("keyPattern", x.key, "keyValue", doc)
	return e
}

// indexSpec is a parsed index specification.
type indexSpec struct {
	name           string
	key            bson.Raw
	fields         []indexField
	unique, sparse bool
	partialRaw     bson.Raw
	partial        *query.Filter
	other          bson.D // options that are only kept and shown
}

func idSpec() indexSpec {
	key := value.NewBuilder(16).Append("_id", value.Int32(1)).Raw()
	return indexSpec{name: "_id_", key: key, fields: []indexField{{name: "_id", path: []string{"_id"}}}}
}

// newIndex makes an empty index. The _id index is unique but does not show it, as in
// the server.
func newIndex(s indexSpec) *index {
	x := &index{
		name: s.name, key: s.key, fields: s.fields, sparse: s.sparse, partial: s.partial,
		unique: s.unique || s.name == "_id_", spec: s.document(),
	}
	x.tree = btree.NewG(degree, x.less)
	return x
}

// CheckIndex returns the error with which an index of this specification is not created.
func CheckIndex(spec bson.Raw) error {
	_, err := parseSpec(spec)
	return err
}

// parseSpec checks a specification as createIndexes does.
func parseSpec(spec bson.Raw) (s indexSpec, err error) {
	for name, v := range value.Elements(spec) {
		switch name {
		case "v":
		case "key":
			if v.Type != bson.TypeEmbeddedDocument {
				return s, status.Errorf(status.TypeMismatch, "The field 'key' must be an object, but got %s", v.Type)
			}
			s.key = v.Value
		case "name":
			if v.Type != bson.TypeString {
				return s, status.Errorf(status.TypeMismatch, "The field 'name' must be a string, but got %s", v.Type)
			}
			s.name = v.StringValue()
		case "unique":
			s.unique = truthy(v)
		case "sparse":
			s.sparse = truthy(v)
		case "partialFilterExpression":
			if v.Type != bson.TypeEmbeddedDocument {
				return s, status.Errorf(status.TypeMismatch, "The field 'partialFilterExpression' must be an object, but got %s", v.Type)
			}
			s.partialRaw = v.Value
			if s.partial, err = query.Parse(v.Value, nil); err != nil {
				return s, err
			}
		case "ns", "background":
		default:
			s.other = append(s.other, bson.E{Key: name, Value: v})
		}
	}
	if s.key == nil {
		return s, status.Errorf(status.FailedToParse, "The 'key' field is a required property of an index specification")
	}
	if s.fields, err = parseKey(s.key); err != nil {
		return s, err
	}
	s.name = cmp.Or(s.name, defaultName(s.key))
	for _, f := range s.fields {
		if f.hashed && s.unique {
			return s, status.Errorf(16764, "Currently hashed indexes cannot guarantee uniqueness. Use a regular index.")
		}
	}
	if s.partial != nil && s.sparse {
		return s, status.Errorf(status.CannotCreateIndex, "cannot mix \"partialFilterExpression\" and \"sparse\" options")
	}
	return s, nil
}

// parseKey reads a key pattern: numbers give the direction, "hashed" a hashed field.
func parseKey(key bson.Raw) ([]indexField, error) {
	var fields []indexField
	hashed := 0
	for name, v := range value.Elements(key) {
		f := indexField{name: name, path: strings.Split(name, ".")}
		switch {
		case name == "":
			return nil, status.Errorf(status.CannotCreateIndex, "Index keys cannot be an empty field.")
		case value.IsNumber(v):
			n := value.Float(v)
			if n == 0 {
				return nil, status.Errorf(status.CannotCreateIndex, "Values in the index key pattern cannot be 0.")
			}
			f.descending = n < 0
		case v.Type == bson.TypeString && v.StringValue() == "hashed":
			f.hashed = true
			hashed++
		case v.Type == bson.TypeString:
			return nil, status.Errorf(status.CannotCreateIndex, "this simulated cluster does not build indexes of type '%s'", v.StringValue())
		default:
			return nil, status.Errorf(status.CannotCreateIndex,
				"Values in v:2 index key pattern cannot be of type %s. Only numbers > 0, numbers < 0, and strings are allowed.", v.Type)
		}
		fields = append(fields, f)
	}
	switch {
	case len(fields) == 0:
		return nil, status.Errorf(status.CannotCreateIndex, "Index keys cannot be an empty.")
	case len(fields) > 32:
		return nil, status.Errorf(13103, "too many compound keys")
	case hashed > 1:
		return nil, status.Errorf(31303, "A maximum of one index field is allowed to be hashed but found %d for 'key' %s", hashed,
			value.Text(value.Doc(key)))
	}
	return fields, nil
}

// defaultName is the name that clients give an index: fields and directions joined by "_".
func defaultName(key bson.Raw) string {
	var parts []string
	for name, v := range value.Elements(key) {
		direction, hashed := v.StringValueOK()
		if !hashed {
			n, _ := value.Long(v)
			direction = fmt.Sprint(n)
		}
		parts = append(parts, name, direction)
	}
	return strings.Join(parts, "_")
}

// document is the specification as listIndexes shows it: v, key, name, then the options.
func (s indexSpec) document() bson.Raw {
	return value.Encode(value.D("v", int32(2), "key", s.key, "name", s.name,
		value.When(s.unique && s.name != "_id_", "unique", true), value.When(s.sparse, "sparse", true),
		value.When(s.partialRaw != nil, "partialFilterExpression", s.partialRaw), s.other))
}

// sameOptions reports whether the options that define an index are equal.
func (s indexSpec) sameOptions(x *index) bool {
	return s.unique == x.unique && s.sparse == x.sparse && bytes.Equal(s.partialRaw, x.partial.Raw())
}
