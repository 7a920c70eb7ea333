package engine

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func truthy(v bson.RawValue) bool { return expr.Truthy(v) }

// EnsureIndex creates an index from a spec {key, name, unique, sparse,
// partialFilterExpression, expireAfterSeconds, …}; other options are stored and shown.
// For an existing index with the same options created is false. Errors: 85 same key
// with another name or other options, 86 same name with another key, 67 invalid spec,
// 11000 for duplicate keys in the data.
func (c *Coll) EnsureIndex(spec bson.Raw) (created bool, err error) {
	s, err := parseSpec(spec)
	if err != nil {
		return false, err
	}
	if same, err := c.sameIndex(s); same || err != nil {
		return false, err
	}
	x := newIndex(s)
	var failure error
	c.records.Ascend(func(r *record) bool {
		keys, err := x.check(c, r)
		if err != nil {
			failure = err
			return false
		}
		x.add(keys)
		return true
	})
	if failure != nil {
		return false, failure
	}
	c.indexes = append(c.indexes, x)
	return true, nil
}

// sameIndex compares a new specification with the indexes that exist.
func (c *Coll) sameIndex(s indexSpec) (bool, error) {
	if idKey := c.indexes[0].key; bytes.Equal(normalKey(s.fields), normalKey(c.indexes[0].fields)) {
		if s.name != "_id_" && s.name != "_id_1" {
			return false, status.Errorf(status.BadValue, "The field 'name' for an _id index must be '_id_', but got '%s' for %s",
				s.name, value.Text(value.Doc(idKey)))
		}
		return true, nil
	}
	for _, x := range c.indexes {
		sameKey := bytes.Equal(normalKey(s.fields), normalKey(x.fields))
		switch {
		case x.name == s.name && !sameKey:
			return false, status.Errorf(status.IndexKeySpecsConflict, "An existing index has the same name as the requested index. "+
				"When index names are not specified, they are auto generated and can cause conflicts. Please refer to our "+
				"documentation. Requested index: %s, existing index: %s",
				value.Text(value.Doc(s.document())), value.Text(value.Doc(x.spec)))
		case x.name == s.name && s.sameOptions(x):
			return true, nil
		case x.name == s.name:
			return false, status.Errorf(status.IndexOptionsConflict,
				"An equivalent index already exists with the same name but different options. Requested index: %s, existing index: %s",
				value.Text(value.Doc(s.document())), value.Text(value.Doc(x.spec)))
		case sameKey && s.sameOptions(x):
			return false, status.Errorf(status.IndexOptionsConflict, "Index already exists with a different name: %s", x.name)
		}
	}
	return false, nil
}

// normalKey is a key pattern in which 1, 1.0 and NumberLong(1) are equal.
func normalKey(fields []indexField) bson.Raw {
	b := value.NewBuilder(64)
	for _, f := range fields {
		switch {
		case f.hashed:
			b.Append(f.name, value.String("hashed"))
		case f.descending:
			b.Append(f.name, value.Int32(-1))
		default:
			b.Append(f.name, value.Int32(1))
		}
	}
	return b.Raw()
}

// Indexes are the specs as listIndexes shows them, _id_ first.
func (c *Coll) Indexes() []bson.Raw {
	specs := make([]bson.Raw, len(c.indexes))
	for i, x := range c.indexes {
		specs[i] = x.spec
	}
	return specs
}

// DropIndex removes an index by name. Errors: 27 IndexNotFound, 72 InvalidOptions for _id_.
func (c *Coll) DropIndex(name string) error {
	if name == "_id_" {
		return status.Errorf(status.InvalidOptions, "cannot drop _id index")
	}
	at := slices.IndexFunc(c.indexes, func(x *index) bool { return x.name == name })
	if at < 0 {
		return status.Errorf(status.IndexNotFound, "index not found with name [%s]", name)
	}
	c.indexes = slices.Delete(c.indexes, at, at+1)
	return nil
}

// IndexByKey is the name of the index with exactly this key pattern.
func (c *Coll) IndexByKey(key bson.Raw) (name string, ok bool) {
	fields, err := parseKey(key)
	if err != nil {
		return "", false
	}
	for _, x := range c.indexes {
		if bytes.Equal(normalKey(fields), normalKey(x.fields)) {
			return x.name, true
		}
	}
	return "", false
}

// entry is one index key. It stores the positions of the key's values in the document
// instead of copies.
type entry struct {
	rec  *record
	hash int64      // of the hashed field
	at   [4]place   // of the first four fields
	wide *[28]place // the others; MongoDB allows 32
}

// place is the position of a value in a document: type in the upper 8 bits, byte offset
// in the lower 24, which is enough for documents of at most 16 MiB. Type 0 marks
// special values.
type place uint32

const (
	atMissing   place = 0 // null
	atUndefined place = 1 // an empty array
	atEnd       place = 2 // the key ends here: bounds may have fewer fields
	atHash      place = 3 // the value is entry.hash
)

// maxDocument is the largest document in bytes, the server's limit.
const maxDocument = 16 << 20

func placeOf(t bson.Type, offset int) place { return place(t)<<24 | place(offset) }

func (p place) typ() bson.Type { return bson.Type(p >> 24) }

func (p place) offset() int { return int(p & (1<<24 - 1)) }

// Record ids around those of all documents, for bounds.
const (
	before RecordID = 0
	after  RecordID = math.MaxUint64
)

func (e *entry) pos(i int) place {
	if i < len(e.at) {
		return e.at[i]
	}
	return e.wide[i-len(e.at)]
}

func (e *entry) set(i int, pos place) {
	if i < len(e.at) {
		e.at[i] = pos
		return
	}
	if e.wide == nil {
		e.wide = new([28]place)
	}
	e.wide[i-len(e.at)] = pos
}

// value is the i-th value of the key.
func (e *entry) value(i int) bson.RawValue {
	switch pos := e.pos(i); pos {
	case atMissing, atEnd:
		return value.Null()
	case atUndefined:
		return value.Undefined()
	case atHash:
		return value.Int64(e.hash)
	default:
		return value.Cut(pos.typ(), e.rec.doc[pos.offset():])
	}
}

// bound makes an entry for seeking: it sorts before or after all entries that begin
// with the given values.
func bound(fields int, values []bson.RawValue, side RecordID) entry {
	b := value.NewBuilder(128)
	e := entry{rec: &record{id: side}}
	at := 4
	for i := range fields {
		if i >= len(values) {
			e.set(i, atEnd)
			continue
		}
		b.Append("", values[i])
		e.set(i, placeOf(values[i].Type, at+2))
		at += 2 + len(values[i].Value)
	}
	e.rec.doc = b.Raw()
	return e
}

// compareKeys orders the keys of two entries of the index; 0 also when one ends early and agrees until then.
func (x *index) compareKeys(a, b *entry) int {
	for i := range x.fields {
		p, q := a.pos(i), b.pos(i)
		if p == atEnd || q == atEnd {
			return 0
		}
		c := comparePlaces(a, b, p, q, i)
		if c != 0 {
			if x.fields[i].descending {
				return -c
			}
			return c
		}
	}
	return 0
}

// comparePlaces has fast paths for the common key types.
func comparePlaces(a, b *entry, p, q place, i int) int {
	if p == atHash && q == atHash {
		return cmp.Compare(a.hash, b.hash)
	}
	if p.typ() == q.typ() {
		x, y := a.rec.doc[p.offset():], b.rec.doc[q.offset():]
		switch p.typ() {
		case bson.TypeObjectID:
			return bytes.Compare(x[:12], y[:12])
		case bson.TypeTimestamp:
			return cmp.Compare(binary.LittleEndian.Uint64(x), binary.LittleEndian.Uint64(y))
		case bson.TypeBinary:
			n, m := binary.LittleEndian.Uint32(x), binary.LittleEndian.Uint32(y)
			if n != m {
				return cmp.Compare(n, m)
			}
			return bytes.Compare(x[4:5+n], y[4:5+m])
		case bson.TypeInt64, bson.TypeDateTime:
			return cmp.Compare(int64(binary.LittleEndian.Uint64(x)), int64(binary.LittleEndian.Uint64(y)))
		case bson.TypeString:
			n, m := binary.LittleEndian.Uint32(x), binary.LittleEndian.Uint32(y)
			return bytes.Compare(x[4:4+n-1], y[4:4+m-1])
		}
	}
	return value.Compare(a.value(i), b.value(i))
}

func (x *index) less(a, b entry) bool {
	if c := x.compareKeys(&a, &b); c != 0 {
		return c < 0
	}
	return a.rec.id < b.rec.id
}
