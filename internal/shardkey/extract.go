package shardkey

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// Extract is the key of a stored document: fields are found by dotted path, a missing
// one is null, hashing is applied. An array as the value or on the path is
// fault.Invalid, as in the server.
func (p Pattern) Extract(doc bson.Raw) (Key, error) {
	if p.IsZero() {
		return Key{}, fault.New(fault.Invalid, "There is no shard key to extract.")
	}
	var encRoom, bitsRoom [64]byte
	enc, bits := encRoom[:0], bitsRoom[:0]
	for i, f := range p.fields {
		e, err := lookup(doc, f.Name)
		switch {
		case err != nil:
			return Key{}, fault.Wrap(fault.Invalid, err, "The document is not well-formed BSON.")
		case e.typ == 0:
			e.typ = bson.TypeNull
		case e.typ == bson.TypeArray:
			return Key{}, fault.New(fault.Invalid, "The document has an array in the shard key field %q, which cannot be.", f.Name)
		}
		if enc, bits, err = p.appendField(enc, bits, i, e.typ, e.value); err != nil {
			return Key{}, err
		}
	}
	return newKey(enc, bits), nil
}

// FieldOf is the value at a dotted path of a stored row, as in queries and shard keys; its type is 0 where there is
// none. It stops at an array and is that: neither an id nor a shard key can be in one. A field whose own name has a dot
// is not found, as in the server.
func FieldOf(row bson.Raw, path string) bson.RawValue {
	e, err := lookup(row, path)
	if err != nil || path == "" {
		return bson.RawValue{}
	}
	return bson.RawValue{Type: e.typ, Value: e.value}
}

// GivenField is a field of a document that a person gives: under its dotted name, as bounds and filters have it, or
// nested, as rows have it. top is the name in the document itself.
func GivenField(doc bson.Raw, name string) (v bson.RawValue, top string, ok bool) {
	if e, err := find(doc, name); err == nil && e.typ != 0 {
		return bson.RawValue{Type: e.typ, Value: e.value}, name, true
	}
	top, _, _ = strings.Cut(name, ".")
	v = FieldOf(doc, name)
	return v, top, v.Type != 0
}

// GivenPrefix are the values that such a document has of the pattern's leading fields.
func (p Pattern) GivenPrefix(doc bson.Raw) (values []bson.RawValue) {
	for _, f := range p.fields {
		v, _, ok := GivenField(doc, f.Name)
		if !ok {
			break
		}
		values = append(values, v)
	}
	return values
}

// lookup follows a dotted path. It stops at an array and returns it; a missing field has the type 0.
func lookup(doc []byte, path string) (element, error) {
	for {
		name, rest, more := strings.Cut(path, ".")
		e, err := find(doc, name)
		if err != nil || !more || e.typ == bson.TypeArray {
			return e, err
		}
		if e.typ != bson.TypeEmbeddedDocument {
			return element{}, nil
		}
		doc, path = e.value, rest
	}
}

// find gives the first element of this name; of type 0 where there is none.
func find(doc []byte, name string) (element, error) {
	rest, err := elementsOf(doc)
	for err == nil && len(rest) > 0 {
		var e element
		if e, rest, err = next(rest); err == nil && string(e.name) == name {
			return e, nil
		}
	}
	return element{}, err
}
