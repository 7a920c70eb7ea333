package value

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Field is the value of one top-level field, missing (zero) when there is none. Nothing is allocated.
func Field(doc bson.Raw, name string) bson.RawValue {
	for r := Read(doc); r.Next(); {
		if string(r.Key) == name {
			return r.Value
		}
	}
	return bson.RawValue{}
}

// Lookup follows a dotted path through documents, and through arrays where a part is an index.
func Lookup(doc bson.Raw, path string) (bson.RawValue, bool) {
	for {
		name, rest, more := strings.Cut(path, ".")
		v := Field(doc, name)
		if !more || v.Type == 0 {
			return v, v.Type != 0
		}
		if v.Type != bson.TypeEmbeddedDocument && v.Type != bson.TypeArray {
			return bson.RawValue{}, false
		}
		doc, path = v.Value, rest
	}
}

// KeyField follows a dotted path as a shard key does: an array on the way is the value, which no key can have; missing
// (zero) where there is none.
func KeyField(doc bson.Raw, path string) bson.RawValue {
	for {
		name, rest, more := strings.Cut(path, ".")
		v := Field(doc, name)
		switch {
		case !more || v.Type == bson.TypeArray:
			return v
		case v.Type != bson.TypeEmbeddedDocument:
			return bson.RawValue{}
		}
		doc, path = v.Value, rest
	}
}

// Put returns d with the value at path replaced (removed if missing); documents on the
// path are created as needed.
func Put(d bson.Raw, path []string, v bson.RawValue) bson.Raw {
	b := NewBuilder(len(d) + 16)
	found := false
	inner := func(old bson.RawValue) bson.RawValue {
		if len(path) == 1 {
			return v
		}
		if old.Type != bson.TypeEmbeddedDocument {
			old.Value = nil
		}
		return Doc(Put(old.Value, path[1:], v))
	}
	for k, old := range Elements(d) {
		if k == path[0] && !found {
			found, old = true, inner(old)
		}
		b.Append(k, old)
	}
	if !found && v.Type != 0 {
		b.Append(path[0], inner(bson.RawValue{}))
	}
	return b.Raw()
}

// Walk visits the values at the path as a query sees them: arrays on the way fan out over their
// documents and, where the next part is a number, also take that index; a path that ends early is
// visited as missing (zero value), but not for array elements that are no documents. With open,
// an array at the end is visited element by element and then itself. visit returns false to stop;
// Walk reports whether it ran to the end.
func Walk(doc bson.Raw, path []string, open bool, visit func(v bson.RawValue) bool) bool {
	w := walk{open: open, visit: visit}
	return w.document(doc, path)
}

type walk struct {
	open  bool
	visit func(v bson.RawValue) bool
}

func (w *walk) document(doc bson.Raw, path []string) bool {
	v := Field(doc, path[0])
	if len(path) == 1 {
		return w.leaf(v)
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return w.document(v.Value, path[1:])
	case bson.TypeArray:
		return w.array(v.Value, path[1:])
	}
	return w.visit(bson.RawValue{})
}

func (w *walk) array(array bson.Raw, rest []string) bool {
	_, numeric := Index(rest[0])
	for r := Read(array); r.Next(); {
		if r.Value.Type == bson.TypeEmbeddedDocument && !w.document(r.Value.Value, rest) {
			return false
		}
		if !numeric || string(r.Key) != rest[0] {
			continue
		}
		going := true
		switch {
		case len(rest) == 1:
			going = w.leaf(r.Value)
		case r.Value.Type == bson.TypeEmbeddedDocument:
			going = w.document(r.Value.Value, rest[1:])
		case r.Value.Type == bson.TypeArray:
			going = w.array(r.Value.Value, rest[1:])
		}
		if !going {
			return false
		}
	}
	return true
}

func (w *walk) leaf(v bson.RawValue) bool {
	if w.open && v.Type == bson.TypeArray {
		for r := Read(v.Value); r.Next(); {
			if !w.visit(r.Value) {
				return false
			}
		}
	}
	return w.visit(v)
}

// Index parses an array index: digits without a leading zero.
func Index(part string) (int, bool) {
	if part == "" || len(part) > 1 && part[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(part, 10, 31)
	return int(n), err == nil
}
