package engine

import (
	"bytes"
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

// maxDocument is the largest document in bytes, the server's limit.
const maxDocument = 16 << 20
