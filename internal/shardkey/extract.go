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
		case e.typ == bson.TypeArray:
			return Key{}, fault.New(fault.Invalid, "The document has an array in the shard key field %q, which cannot be.", f.Name)
		}
		if enc, bits, err = p.appendField(enc, bits, i, e.typ, e.value); err != nil {
			return Key{}, err
		}
	}
	return newKey(enc, bits), nil
}

// lookup follows a dotted path. It stops at an array and returns it; a missing field is
// null.
func lookup(doc []byte, path string) (element, error) {
	for {
		name, rest, more := strings.Cut(path, ".")
		e, err := find(doc, name)
		if err != nil || !more || e.typ == bson.TypeArray {
			return e, err
		}
		if e.typ != bson.TypeEmbeddedDocument {
			return element{typ: bson.TypeNull}, nil
		}
		doc, path = e.value, rest
	}
}

// find gives the first element of this name.
func find(doc []byte, name string) (element, error) {
	rest, err := elementsOf(doc)
	for err == nil && len(rest) > 0 {
		var e element
		if e, rest, err = next(rest); err == nil && string(e.name) == name {
			return e, nil
		}
	}
	return element{typ: bson.TypeNull}, err
}
