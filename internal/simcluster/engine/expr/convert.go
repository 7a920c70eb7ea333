package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func convertOperators(name string) parser {
	if name == "$convert" {
		return parseConvert
	}
	if to := shorthand(name); to != 0 {
		return fixed(1, func(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
			if nullish(args[0]) {
				return value.Null(), nil
			}
			return convert(args[0], to)
		})
	}
	return nil
}

func shorthand(name string) bson.Type {
	switch name {
	case "$toString":
		return bson.TypeString
	case "$toInt":
		return bson.TypeInt32
	case "$toLong":
		return bson.TypeInt64
	case "$toDouble":
		return bson.TypeDouble
	case "$toDecimal":
		return bson.TypeDecimal128
	case "$toBool":
		return bson.TypeBoolean
	case "$toDate":
		return bson.TypeDateTime
	case "$toObjectId":
		return bson.TypeObjectID
	}
	return 0
}

// convertNode is $convert with its fallbacks.
type convertNode struct{ input, to, onError, onNull node }

func parseConvert(c *compiler, _ string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(status.FailedToParse, "$convert expects an object of named arguments but found: %s", TypeName(arg))
	}
	args, err := c.named(arg, []string{"input", "to", "onError", "onNull"}, func(f string) error {
		return status.Errorf(status.FailedToParse, "$convert found an unknown argument: %s", f)
	})
	switch {
	case err != nil:
		return nil, err
	case args[0] == nil:
		return nil, status.Errorf(status.FailedToParse, "Missing 'input' parameter to $convert")
	case args[1] == nil:
		return nil, status.Errorf(status.FailedToParse, "Missing 'to' parameter to $convert")
	}
	return convertNode{args[0], args[1], args[2], args[3]}, nil
}

func (n convertNode) eval(c *evaluation) (bson.RawValue, error) {
	to, err := n.to.eval(c)
	if err != nil {
		return to, err
	}
	in, err := n.input.eval(c)
	if err != nil {
		return in, err
	}
	if nullish(in) {
		v, given, err := c.optional(n.onNull)
		if !given {
			v = value.Null()
		}
		return v, err
	}
	if nullish(to) {
		return value.Null(), nil
	}
	target, err := targetType(to)
	if err != nil {
		return missing(), err
	}
	out, err := convert(in, target)
	if err != nil && n.onError != nil {
		return n.onError.eval(c)
	}
	return out, err
}

// targetType reads a type by name or number; an unknown one is an error that
// onError does not catch.
func targetType(to bson.RawValue) (bson.Type, error) {
	if to.Type == bson.TypeString {
		for _, t := range typeNames() {
			if t.name == str(to) {
				return t.t, nil
			}
		}
		return 0, status.Errorf(status.BadValue, "Unknown type name: %s", str(to))
	}
	n, ok := number(to)
	if !ok {
		return 0, status.Errorf(status.FailedToParse, "$convert's 'to' argument must be a string or number, but is %s", TypeName(to))
	}
	i, ok := n.index()
	if !ok {
		return 0, status.Errorf(status.FailedToParse, "In $convert, numeric 'to' argument is not an integer")
	}
	if i > 0 && i < 128 {
		if _, known := nameOf(bson.Type(i)); known {
			return bson.Type(i), nil
		}
	}
	return 0, status.Errorf(status.FailedToParse, "In $convert, numeric value for 'to' does not correspond to a BSON type: %d", i)
}
