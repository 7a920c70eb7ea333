package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// truth is the boolean value of an operand such as that of $exists.
func truth(v bson.RawValue) bool { return expr.Truthy(v) }

func regexOperator(name string, doc bson.Raw) (condition, error) {
	source, options := value.Field(doc, "$regex"), value.Field(doc, "$options")
	if source.Type == 0 {
		return condition{}, status.Errorf(status.BadValue, "$options needs a $regex")
	}
	if name == "$options" { // read together with $regex
		return condition{}, nil
	}
	var text, flags string
	switch source.Type {
	case bson.TypeString:
		text = source.StringValue()
	case bson.TypeRegex:
		text, flags = source.Regex()
	default:
		return condition{}, status.Errorf(status.BadValue, "$regex has to be a string")
	}
	if options.Type != 0 {
		if options.Type != bson.TypeString {
			return condition{}, status.Errorf(status.BadValue, "$options has to be a string")
		}
		if flags != "" {
			return condition{}, status.Errorf(51075, "options set in both $regex and $options")
		}
		flags = options.StringValue()
	}
	re, err := newPattern(text, flags)
	return condition{test: re, open: true}, err
}

func sizeOperator(v bson.RawValue) (test, error) {
	if !value.IsNumber(v) {
		return nil, status.Errorf(status.BadValue, "Failed to parse $size. Expected a number in: $size: %s", value.Text(v))
	}
	n, exact := value.Long(v)
	switch {
	case !exact:
		return nil, status.Errorf(status.BadValue, "Failed to parse $size. Expected an integer: $size: %s", value.Text(v))
	case n < 0:
		return nil, status.Errorf(status.BadValue, "Failed to parse $size. Expected a non-negative number in: $size: %s", value.Text(v))
	}
	return size(n), nil
}

func types(v bson.RawValue) (test, error) {
	t := typed{types: map[bson.Type]bool{}}
	add := func(v bson.RawValue) error {
		if v.Type == bson.TypeString {
			name := v.StringValue()
			code, ok := typeNamed(name)
			switch {
			case name == "number":
				t.numbers = true
			case !ok:
				return status.Errorf(status.BadValue, "Unknown type name alias: %s", name)
			default:
				t.types[code] = true
			}
			return nil
		}
		if !value.IsNumber(v) {
			return status.Errorf(status.TypeMismatch, "type must be represented as a number or a string")
		}
		n, exact := value.Long(v)
		if !exact || n == 0 || n < -1 || n > 19 && n != 127 {
			return status.Errorf(status.BadValue, "Invalid numerical type code: %s", value.Text(v))
		}
		t.types[bson.Type(byte(n))] = true
		return nil
	}
	if v.Type != bson.TypeArray {
		return t, add(v)
	}
	for item := range value.Items(v) {
		if err := add(item); err != nil {
			return nil, err
		}
	}
	if len(t.types) == 0 && !t.numbers {
		return nil, status.Errorf(status.FailedToParse, "$type must match at least one type")
	}
	return t, nil
}

// typeNames are the aliases of $type; those of types 1 to 19 at their number.
func typeNames() []string {
	return []string{"", "double", "string", "object", "array", "binData", "undefined", "objectId", "bool", "date",
		"null", "regex", "dbPointer", "javascript", "symbol", "javascriptWithScope", "int", "timestamp", "long", "decimal",
		"minKey", "maxKey"}
}

func typeNamed(name string) (bson.Type, bool) {
	switch name {
	case "minKey":
		return bson.TypeMinKey, true
	case "maxKey":
		return bson.TypeMaxKey, true
	}
	i := slices.Index(typeNames(), name)
	return bson.Type(byte(max(i, 0))), i > 0
}
