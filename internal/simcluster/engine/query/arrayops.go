package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func items(v bson.RawValue) []bson.RawValue { return slices.Collect(value.Items(v)) }

// eachOf reads {$each: […]}; ok is false when arg is a plain value.
func eachOf(op string, arg bson.RawValue) (list []bson.RawValue, ok bool, err error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, false, nil
	}
	each := value.Field(arg.Value, "$each")
	if each.Type == 0 {
		return nil, false, nil
	}
	if each.Type != bson.TypeArray {
		return nil, false, status.Errorf(status.BadValue,
			"The argument to $each in %s must be an array but it was of type: %s", op, expr.TypeName(each))
	}
	return items(each), true, nil
}

// push appends a value, or each of {$each: […]}; it has no other modifiers.
func push(name string, arg bson.RawValue) (computation, error) {
	list, each, err := eachOf("$push", arg)
	if err != nil {
		return nil, err
	}
	if !each {
		list = []bson.RawValue{arg}
	} else if value.Len(arg.Value) > 1 {
		return nil, status.Errorf(status.CommandNotSupported, "this simulated cluster knows no modifier of $push but $each")
	}
	return func(a *application, old bson.RawValue) (bson.RawValue, error) {
		if old.Type != 0 && old.Type != bson.TypeArray {
			return old, status.Errorf(status.BadValue, "The field '%s' must be an array but is of type %s in document {%s}",
				name, expr.TypeName(old), a.idText())
		}
		return value.Array(append(items(old), list...)...), nil
	}, nil
}

func addToSet(name string, arg bson.RawValue) (computation, error) {
	list, each, err := eachOf("$addToSet", arg)
	if err != nil {
		return nil, err
	}
	if !each {
		list = []bson.RawValue{arg}
	}
	return func(_ *application, old bson.RawValue) (bson.RawValue, error) {
		if old.Type != 0 && old.Type != bson.TypeArray {
			return old, status.Errorf(status.BadValue,
				"Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s", name, expr.TypeName(old))
		}
		array := items(old)
		before := len(array)
		for _, v := range list {
			if !slices.ContainsFunc(array, func(o bson.RawValue) bool { return value.Equal(o, v) }) {
				array = append(array, v)
			}
		}
		if old.Type != 0 && len(array) == before {
			return old, nil
		}
		return value.Array(array...), nil
	}, nil
}

func pull(arg bson.RawValue) (computation, error) {
	matches, err := pullCondition(arg)
	if err != nil {
		return nil, err
	}
	return func(_ *application, old bson.RawValue) (bson.RawValue, error) {
		if old.Type != 0 && old.Type != bson.TypeArray {
			return old, status.Errorf(status.BadValue, "Cannot apply $pull to a non-array value")
		}
		return removing(old, matches), nil
	}, nil
}

// pullCondition: operators apply to the element, a document is a filter on elements that are
// documents, anything else is equality (or a regular expression).
func pullCondition(arg bson.RawValue) (func(bson.RawValue) bool, error) {
	var p parser
	if arg.Type == bson.TypeEmbeddedDocument && !isOperators(arg) {
		p.inside = true
		n, err := p.filter(arg.Value)
		return func(v bson.RawValue) bool {
			if v.Type != bson.TypeEmbeddedDocument {
				return false
			}
			ok, err := n.match(v.Value)
			return ok && err == nil
		}, err
	}
	c, err := p.conditions("", arg)
	if err != nil {
		return nil, err
	}
	t := c.element()
	return t.holds, nil
}

// removing is the array without the elements to drop; missing stays missing.
func removing(array bson.RawValue, drop func(bson.RawValue) bool) bson.RawValue {
	if array.Type == 0 {
		return array
	}
	return value.Array(slices.DeleteFunc(items(array), drop)...)
}
