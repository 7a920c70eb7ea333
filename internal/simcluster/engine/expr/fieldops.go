package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func fieldOperators(name string) parser {
	switch name {
	case "$getField":
		return parseGetField
	case "$setField", "$unsetField":
		return parseSetField
	}
	return nil
}

// fieldNode reads or replaces one top-level field by its exact name, which may
// hold dots and dollars.
type fieldNode struct {
	name   string
	input  node
	value  node // nil for $getField
	change bool
}

func parseGetField(c *compiler, op string, arg bson.RawValue) (node, error) {
	input, name := bson.RawValue{}, arg
	if arg.Type == bson.TypeEmbeddedDocument {
		name = bson.RawValue{}
		literal := false
		for key, v := range fields(arg.Value) {
			switch {
			case string(key) == "field":
				name = v
			case string(key) == "input":
				input = v
			case key[0] == '$': // {$getField: {$literal: "a.b"}}
				name, literal = arg, true
			default:
				return nil, status.Errorf(3041701, "%s found an unknown argument: %s", op, key)
			}
		}
		if !literal && name.Type != 0 && input.Type == 0 {
			return nil, status.Errorf(3041703, "%s requires 'input' to be specified", op)
		}
	}
	if name.Type == 0 {
		return nil, status.Errorf(3041702, "%s requires 'field' to be specified", op)
	}
	n := fieldNode{input: rootNode{}}
	var err error
	if n.name, err = c.fieldName(op, name); err != nil {
		return nil, err
	}
	if input.Type != 0 {
		n.input, err = c.value(input)
	} else if slot, ok := c.slot("CURRENT"); ok {
		n.input = localNode(slot)
	}
	return n, err
}

// fieldName is the constant string that names the field.
func (c *compiler) fieldName(op string, v bson.RawValue) (string, error) {
	n, err := c.value(v)
	if err != nil {
		return "", err
	}
	k, ok := n.(constant)
	if !ok {
		if v.Type == bson.TypeString {
			return "", status.Errorf(5654601, "A field path reference which is not allowed in this context. Did you mean {$literal: '%s'}?", str(v))
		}
		return "", status.Errorf(5654600, "%s requires 'field' to evaluate to a constant", op)
	}
	if k.v.Type != bson.TypeString {
		return "", status.Errorf(5654602, "%s requires 'field' to evaluate to type String, but got %s", op, TypeName(k.v))
	}
	return str(k.v), nil
}

func parseSetField(c *compiler, op string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(4161100, "%s only supports an object as its argument", op)
	}
	var name, input, val bson.RawValue
	for key, v := range fields(arg.Value) {
		switch k := string(key); {
		case k == "field":
			name = v
		case k == "input":
			input = v
		case k == "value" && op == "$setField":
			val = v
		default:
			return nil, status.Errorf(4161101, "%s found an unknown argument: %s", op, key)
		}
	}
	switch {
	case name.Type == 0:
		return nil, status.Errorf(4161102, "%s requires 'field' to be specified", op)
	case input.Type == 0:
		return nil, status.Errorf(4161109, "%s requires 'input' to be specified", op)
	case val.Type == 0 && op == "$setField":
		return nil, status.Errorf(4161103, "%s requires 'value' to be specified", op)
	}
	n := fieldNode{change: true, value: constant{}}
	var err error
	if n.name, err = c.fieldName(op, name); err != nil {
		return nil, err
	}
	if n.input, err = c.value(input); err != nil {
		return nil, err
	}
	if val.Type != 0 {
		n.value, err = c.value(val)
	}
	return n, err
}

func (n fieldNode) eval(c *evaluation) (bson.RawValue, error) {
	in, err := n.input.eval(c)
	if err != nil {
		return in, err
	}
	if !n.change {
		switch {
		case in.Type == bson.TypeEmbeddedDocument:
			return value.Field(in.Value, n.name), nil
		case nullish(in):
			return in, nil
		}
		return missing(), nil
	}
	v, err := n.value.eval(c)
	if err != nil {
		return v, err
	}
	if nullish(in) {
		return value.Null(), nil
	}
	if in.Type != bson.TypeEmbeddedDocument {
		return missing(), status.Errorf(4161105, "$setField requires 'input' to evaluate to type Object")
	}
	var o object
	o.setAll(in.Value)
	o.set(n.name, v) // a missing value is left out when the document is built
	return value.Doc(o.raw()), nil
}
