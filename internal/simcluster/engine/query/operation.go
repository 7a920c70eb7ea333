package query

import (
	"slices"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// application is the state of one update of one document.
type application struct {
	update *Update
	doc    bson.Raw // before
	now    bson.Raw
}

// idText is "_id: 1", for messages about the document.
func (a *application) idText() string {
	return "_id: " + value.Text(value.Field(a.doc, "_id"))
}

// computation returns the new value of a field; a missing result for a missing value
// does not create the field.
type computation = func(a *application, old bson.RawValue) (bson.RawValue, error)

func knownOperator(op string) bool {
	switch op {
	case "$set", "$setOnInsert", "$unset", "$inc", "$mul", "$min", "$max", "$currentDate", "$push", "$addToSet", "$pull":
		return true
	}
	return false
}

// operation compiles one operator with its operand.
func operation(op, name string, arg bson.RawValue) (computation, error) {
	switch op {
	case "$set", "$setOnInsert":
		return func(*application, bson.RawValue) (bson.RawValue, error) { return arg, nil }, nil
	case "$unset":
		return func(*application, bson.RawValue) (bson.RawValue, error) { return bson.RawValue{}, nil }, nil
	case "$inc", "$mul":
		return arithmetic(op, name, arg)
	case "$min", "$max":
		return func(_ *application, old bson.RawValue) (bson.RawValue, error) {
			c := value.Compare(arg, old)
			if old.Type == 0 || op == "$min" && c < 0 || op == "$max" && c > 0 {
				return arg, nil
			}
			return old, nil
		}, nil
	case "$currentDate":
		return currentDate(arg)
	case "$push", "$addToSet":
		return extend(op, name, arg)
	}
	return pull(arg)
}

func arithmetic(op, name string, arg bson.RawValue) (computation, error) {
	verb, combine := "increment", value.Add
	if op == "$mul" {
		verb, combine = "multiply", value.Mul
	}
	if !value.IsNumber(arg) {
		return nil, status.Errorf(status.TypeMismatch, "Cannot %s with non-numeric argument: {%s: %s}", verb, name, value.Text(arg))
	}
	return func(a *application, old bson.RawValue) (bson.RawValue, error) {
		switch {
		case old.Type == 0 && op == "$inc":
			return arg, nil
		case old.Type == 0:
			old = value.Int32(0)
		case !value.IsNumber(old):
			return old, status.Errorf(status.TypeMismatch,
				"Cannot apply %s to a value of non-numeric type. {%s} has the field '%s' of non-numeric type %s",
				op, a.idText(), name[strings.LastIndexByte(name, '.')+1:], expr.TypeName(old))
		}
		v, ok := combine(old, arg)
		if !ok {
			return v, status.Errorf(status.BadValue,
				"Failed to apply %s operations to current value ((NumberLong)%s) for document {%s}", op, value.Text(old), a.idText())
		}
		return v, nil
	}, nil
}

func currentDate(arg bson.RawValue) (computation, error) {
	kind := "date"
	switch {
	case arg.Type == bson.TypeBoolean:
	case arg.Type == bson.TypeEmbeddedDocument:
		name, v := value.First(arg.Value)
		if kind, _ = v.StringValueOK(); name != "$type" || kind != "date" && kind != "timestamp" {
			return nil, status.Errorf(status.BadValue,
				"The '$type' string field is required to be 'date' or 'timestamp': {$currentDate: {field : {$type: 'date'}}}")
		}
	default:
		return nil, status.Errorf(status.BadValue,
			"%s is not valid type for $currentDate. Please use a boolean ('true') or a $type expression ({$type: 'timestamp/date'}).",
			expr.TypeName(arg))
	}
	return func(a *application, _ bson.RawValue) (bson.RawValue, error) {
		o := a.update.options
		if kind == "timestamp" {
			return value.Timestamp(o.Timestamp.T, o.Timestamp.I), nil
		}
		now := time.Now()
		if o.Env != nil && !o.Env.Now.IsZero() {
			now = o.Env.Now
		}
		return value.Date(now), nil
	}, nil
}

func items(v bson.RawValue) []bson.RawValue { return slices.Collect(value.Items(v)) }

// extend is $push and $addToSet: it appends a value, or each of {$each: […]}, $addToSet only what the array does not
// have. There are no other modifiers.
func extend(op, name string, arg bson.RawValue) (computation, error) {
	list := []bson.RawValue{arg}
	if each := value.Field(arg.Value, "$each"); arg.Type == bson.TypeEmbeddedDocument && each.Type != 0 {
		switch {
		case each.Type != bson.TypeArray:
			return nil, status.Errorf(status.BadValue,
				"The argument to $each in %s must be an array but it was of type: %s", op, expr.TypeName(each))
		case op == "$push" && value.Len(arg.Value) > 1:
			return nil, status.Errorf(status.CommandNotSupported, "this simulated cluster knows no modifier of $push but $each")
		}
		list = items(each)
	}
	return func(a *application, old bson.RawValue) (bson.RawValue, error) {
		switch {
		case old.Type == 0 || old.Type == bson.TypeArray:
		case op == "$push":
			return old, status.Errorf(status.BadValue, "The field '%s' must be an array but is of type %s in document {%s}",
				name, expr.TypeName(old), a.idText())
		default:
			return old, status.Errorf(status.BadValue,
				"Cannot apply $addToSet to non-array field. Field named '%s' has non-array type %s", name, expr.TypeName(old))
		}
		array := items(old)
		for _, v := range list {
			if op == "$push" || !slices.ContainsFunc(array, func(o bson.RawValue) bool { return value.Equal(o, v) }) {
				array = append(array, v)
			}
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
	p := parser{inside: true}
	var n node
	var err error
	documents := arg.Type == bson.TypeEmbeddedDocument && !isOperators(arg)
	if documents {
		n, err = p.filter(arg.Value)
	} else {
		n, err = p.condition(field{}, arg)
	}
	return func(v bson.RawValue) bool {
		if documents && v.Type != bson.TypeEmbeddedDocument {
			return false
		}
		ok, err := n.match(v)
		return ok && err == nil
	}, err
}

// removing is the array without the elements to drop; missing stays missing.
func removing(array bson.RawValue, drop func(bson.RawValue) bool) bson.RawValue {
	if array.Type == 0 {
		return array
	}
	return value.Array(slices.DeleteFunc(items(array), drop)...)
}
