package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

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
			"The argument to $each in %s must be an array but it was of type: %s", op, TypeName(each))
	}
	return items(each), true, nil
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
				"Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s", name, TypeName(old))
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
			ok, err := n.match(v.Value, nil)
			return ok && err == nil
		}, err
	}
	c, err := p.conditions("", arg)
	if err != nil {
		return nil, err
	}
	t := c.element()
	return func(v bson.RawValue) bool { return t.holds(v, nil) }, nil
}

func pullAll(arg bson.RawValue) (computation, error) {
	if arg.Type != bson.TypeArray {
		return nil, status.Errorf(status.BadValue, "$pullAll requires an array argument but was given a %s", TypeName(arg))
	}
	list := items(arg)
	return func(_ *application, old bson.RawValue) (bson.RawValue, error) {
		if old.Type != 0 && old.Type != bson.TypeArray {
			return old, status.Errorf(status.BadValue, "Cannot apply $pull to a non-array value")
		}
		return removing(old, func(v bson.RawValue) bool {
			return slices.ContainsFunc(list, func(o bson.RawValue) bool { return value.Equal(o, v) })
		}), nil
	}, nil
}

// removing is the array without the elements to drop; missing stays missing.
func removing(array bson.RawValue, drop func(bson.RawValue) bool) bson.RawValue {
	if array.Type == 0 {
		return array
	}
	return value.Array(slices.DeleteFunc(items(array), drop)...)
}

func pop(name string, arg bson.RawValue) (computation, error) {
	n, exact := value.Long(arg)
	if !exact || n != 1 && n != -1 {
		return nil, status.Errorf(status.FailedToParse, "$pop expects 1 or -1, found: %s", value.Text(arg))
	}
	return func(_ *application, old bson.RawValue) (bson.RawValue, error) {
		if old.Type == 0 {
			return old, nil
		}
		if old.Type != bson.TypeArray {
			return old, status.Errorf(status.TypeMismatch, "Path '%s' contains an element of non-array type '%s'", name, TypeName(old))
		}
		array := items(old)
		switch {
		case len(array) == 0:
			return old, nil
		case n < 0:
			return value.Array(array[1:]...), nil
		}
		return value.Array(array[:len(array)-1]...), nil
	}, nil
}
