package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"
	"slices"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// pushing is $push with its modifiers.
type pushing struct {
	list     []bson.RawValue
	position *int64
	slice    *int64
	sort     func(a, b bson.RawValue) int
}

func push(name string, arg bson.RawValue) (computation, error) {
	list, each, err := eachOf("$push", arg)
	if err != nil {
		return nil, err
	}
	p := pushing{list: []bson.RawValue{arg}}
	if each {
		p.list = list
		if err := p.modifiers(arg.Value); err != nil {
			return nil, err
		}
	}
	return func(a *application, old bson.RawValue) (bson.RawValue, error) {
		if old.Type != 0 && old.Type != bson.TypeArray {
			return old, status.Errorf(status.BadValue, "The field '%s' must be an array but is of type %s in document {%s}",
				name, TypeName(old), a.idText())
		}
		return value.Array(p.apply(items(old))...), nil
	}, nil
}

func (p *pushing) modifiers(doc bson.Raw) error {
	for name, v := range value.Elements(doc) {
		switch name {
		case "$each":
		case "$position", "$slice":
			n, exact := value.Long(v)
			if !exact {
				return status.Errorf(status.BadValue, "The value for %s must be an integer value but was given type: %s", name, TypeName(v))
			}
			if name == "$slice" {
				p.slice = &n
			} else {
				p.position = &n
			}
		case "$sort":
			order, err := itemOrder(v)
			if err != nil {
				return err
			}
			p.sort = order
		default:
			return status.Errorf(status.BadValue, "Unrecognized clause in $push: %s", name)
		}
	}
	return nil
}

// itemOrder is a direction for whole elements, or a pattern for elements that are documents.
func itemOrder(v bson.RawValue) (func(a, b bson.RawValue) int, error) {
	if v.Type == bson.TypeEmbeddedDocument {
		s, err := ParseSort(v.Value)
		if err != nil || s == nil {
			return nil, status.Errorf(status.BadValue, "The $sort pattern is empty when it should be a set of fields.")
		}
		document := func(v bson.RawValue) bson.Raw {
			if v.Type == bson.TypeEmbeddedDocument {
				return v.Value
			}
			return nil
		}
		return func(a, b bson.RawValue) int { return s.Compare(document(a), document(b)) }, nil
	}
	n, exact := value.Long(v)
	if !exact || n != 1 && n != -1 {
		return nil, status.Errorf(status.BadValue, "The $sort element value must be either 1 or -1")
	}
	return func(a, b bson.RawValue) int { return int(n) * value.Compare(a, b) }, nil
}

func (p *pushing) apply(array []bson.RawValue) []bson.RawValue {
	at := int64(len(array))
	if p.position != nil {
		if at = min(*p.position, at); at < 0 {
			at = max(int64(len(array))+at, 0)
		}
	}
	array = slices.Insert(array, int(at), p.list...)
	if p.sort != nil {
		slices.SortStableFunc(array, p.sort)
	}
	if n := int64(len(array)); p.slice != nil {
		switch s := *p.slice; {
		case s >= 0:
			array = array[:min(s, n)]
		default:
			array = array[max(n+s, 0):]
		}
	}
	return array
}
