package catalog

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// pattern is a parsed shard key pattern.
type pattern struct {
	raw    bson.Raw
	fields []field
	hashed int // index of the hashed field, -1 for none
}

type field struct {
	name   string
	hashed bool
}

func parsePattern(raw bson.Raw) (pattern, error) {
	p := pattern{raw: append(bson.Raw(nil), raw...), hashed: -1}
	for name, v := range value.Elements(raw) {
		n, isNumber := asInt64(v)
		kind, _ := v.StringValueOK()
		switch {
		case isNumber && n == 1:
		case kind == "hashed" && p.hashed >= 0:
			return p, status.Errorf(status.BadValue, "Shard key %s can contain at most one 'hashed' field", text(raw))
		case kind == "hashed":
			p.hashed = len(p.fields)
		default:
			return p, status.Errorf(status.BadValue, "Shard key %s can contain either a single 'hashed' field or multiple "+
				"numerical fields set to a value of 1. Failed to parse field %s", text(raw), name)
		}
		p.fields = append(p.fields, field{name, kind == "hashed"})
	}
	if len(p.fields) == 0 {
		return p, status.Errorf(status.BadValue, "Shard key is empty")
	}
	return p, nil
}

// ordered says that no field is hashed.
func (p pattern) ordered() bool { return p.hashed < 0 }

// hashedPrefix says that the first field is the hashed one.
func (p pattern) hashedPrefix() bool { return p.hashed == 0 }

// hash is the hash of a value, as a value.
func hash(v bson.RawValue) bson.RawValue { return value.Int64(value.Hash(v)) }

// global is a key with the same value in every field.
func (p pattern) global(t bson.Type) bson.Raw {
	d := value.NewBuilder(16 * len(p.fields))
	for _, f := range p.fields {
		d.Append(f.name, bson.RawValue{Type: t})
	}
	return d.Raw()
}

func (p pattern) min() bson.Raw { return p.global(bson.TypeMinKey) }
func (p pattern) max() bson.Raw { return p.global(bson.TypeMaxKey) }

// keyOf extracts the shard key of a document: a missing field is null, a hashed field
// is replaced by its hash, an array is an error.
func (p pattern) keyOf(doc bson.Raw) (bson.Raw, error) {
	d := value.NewBuilder(32 * len(p.fields))
	for _, f := range p.fields {
		v := value.KeyField(doc, f.name)
		if v.Type == 0 || v.Type == bson.TypeUndefined {
			v = bson.RawValue{Type: bson.TypeNull}
		}
		if v.Type == bson.TypeArray {
			return nil, status.Errorf(status.ShardKeyNotFound, "Shard key cannot contain array values or array descendants.")
		}
		if f.hashed {
			v = hash(v)
		}
		d.Append(f.name, v)
	}
	return d.Raw(), nil
}

// normalize puts the fields of a full key into the pattern's order. It fails on missing
// and on additional fields.
func (p pattern) normalize(key bson.Raw) (bson.Raw, bool) {
	if value.Len(key) != len(p.fields) {
		return nil, false
	}
	d := value.NewBuilder(len(key) + 1)
	for _, f := range p.fields {
		v, err := key.LookupErr(f.name)
		if err != nil {
			return nil, false
		}
		if v.Type == bson.TypeArray || v.Type == bson.TypeRegex || v.Type == bson.TypeUndefined {
			return nil, false
		}
		d.Append(f.name, v)
	}
	return d.Raw(), true
}

// extend completes a prefix of the key with MinKey. It fails if the fields are not a
// prefix of the pattern, in order.
func (p pattern) extend(key bson.Raw) (bson.Raw, bool) {
	d, given := value.NewBuilder(len(key)+16*len(p.fields)), value.Read(key)
	for _, f := range p.fields {
		v := value.MinKey()
		if given.Next() {
			if v = given.Value; string(given.Key) != f.name {
				return nil, false
			}
		}
		d.Append(f.name, v)
	}
	return d.Raw(), !given.Next()
}

// compareKeys orders two full keys of one pattern: element by element, values only.
func compareKeys(a, b bson.Raw) int { return value.CompareKeys(a, b) }
