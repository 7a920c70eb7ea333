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

// LookupAll gives every value the path reaches, arrays on the way and at the end opened.
func LookupAll(doc bson.Raw, path string) []bson.RawValue {
	var found []bson.RawValue
	Walk(doc, strings.Split(path, "."), true, func(v bson.RawValue) bool {
		if v.Type != 0 {
			found = append(found, v)
		}
		return true
	})
	return found
}

// Walk visits the values at the path as a query sees them: arrays on the way fan out over their
// documents and, where the next part is a number, also take that index; a path that ends early is
// visited as missing (zero value), but not for array elements that are no documents. With open,
// an array at the end is visited element by element and then itself. visit returns false to stop;
// Walk reports whether it ran to the end.
func Walk(doc bson.Raw, path []string, open bool, visit func(v bson.RawValue) bool) bool {
	w := walk{open: open, visit: func(v bson.RawValue, _ int) bool { return visit(v) }}
	return w.document(doc, path, -1)
}

// WalkIndexed is Walk that also passes the index in the outermost array, -1 outside of
// arrays.
func WalkIndexed(doc bson.Raw, path []string, open bool, visit func(v bson.RawValue, outer int) bool) bool {
	w := walk{open: open, visit: visit}
	return w.document(doc, path, -1)
}

type walk struct {
	open  bool
	visit func(v bson.RawValue, outer int) bool
}

func (w *walk) document(doc bson.Raw, path []string, outer int) bool {
	v := Field(doc, path[0])
	rest := path[1:]
	if len(rest) == 0 {
		return w.leaf(v, outer)
	}
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return w.document(v.Value, rest, outer)
	case bson.TypeArray:
		return w.array(v.Value, rest, outer)
	}
	return w.visit(bson.RawValue{}, outer)
}

func (w *walk) array(array bson.Raw, rest []string, outer int) bool {
	_, numeric := Index(rest[0])
	i := -1
	for r := Read(array); r.Next(); {
		i++
		inside := outer
		if inside < 0 {
			inside = i
		}
		if r.Value.Type == bson.TypeEmbeddedDocument && !w.document(r.Value.Value, rest, inside) {
			return false
		}
		if !numeric || string(r.Key) != rest[0] {
			continue
		}
		going := true
		switch {
		case len(rest) == 1:
			going = w.leaf(r.Value, outer)
		case r.Value.Type == bson.TypeEmbeddedDocument:
			going = w.document(r.Value.Value, rest[1:], outer)
		case r.Value.Type == bson.TypeArray:
			going = w.array(r.Value.Value, rest[1:], outer)
		}
		if !going {
			return false
		}
	}
	return true
}

func (w *walk) leaf(v bson.RawValue, outer int) bool {
	if w.open && v.Type == bson.TypeArray {
		i := -1
		for r := Read(v.Value); r.Next(); {
			i++
			inside := outer
			if inside < 0 {
				inside = i
			}
			if !w.visit(r.Value, inside) {
				return false
			}
		}
	}
	return w.visit(v, outer)
}

// Index parses an array index: digits without a leading zero.
func Index(part string) (int, bool) {
	if part == "" || len(part) > 1 && part[0] == '0' {
		return 0, false
	}
	n, err := strconv.ParseUint(part, 10, 31)
	return int(n), err == nil
}
