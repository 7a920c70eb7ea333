package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func evalSize(_ string, args []bson.RawValue) (bson.RawValue, error) {
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(17124, "The argument to $size must be an array, but was of type: %s", TypeName(args[0]))
	}
	return value.Int32(int32(value.Len(args[0].Value))), nil
}

func evalIn(_ string, args []bson.RawValue) (bson.RawValue, error) {
	if args[1].Type != bson.TypeArray {
		return missing(), status.Errorf(40081, "$in requires an array as a second argument, found: %s", TypeName(args[1]))
	}
	for v := range value.Items(args[1]) {
		if value.Equal(args[0], v) {
			return value.Bool(true), nil
		}
	}
	return value.Bool(false), nil
}

func evalElemAt(name string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) || nullish(args[1]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(28689, "%s's first argument must be an array, but is %s", name, TypeName(args[0]))
	}
	if !value.IsNumber(args[1]) {
		return missing(), status.Errorf(28690, "%s's second argument must be a numeric value, but is %s", name, TypeName(args[1]))
	}
	i, ok := value.Long(args[1])
	if !ok || i != int64(int32(i)) {
		return missing(), status.Errorf(28691, "%s's second argument must be representable as a 32-bit integer: %s", name, Text(args[1]))
	}
	return element(args[0], int(i)), nil
}

// element is the i-th element, counted from the end when negative; missing
// outside of the array.
func element(array bson.RawValue, i int) bson.RawValue {
	if i < 0 {
		i += value.Len(array.Value)
	}
	for v := range value.Items(array) {
		if i == 0 {
			return v
		}
		i--
	}
	return missing()
}

func evalEnd(name string, args []bson.RawValue) (bson.RawValue, error) {
	switch {
	case nullish(args[0]):
		return value.Null(), nil
	case args[0].Type != bson.TypeArray:
		return missing(), status.Errorf(28689, "%s's argument must be an array, but is %s", name, TypeName(args[0]))
	case name == "$first":
		return element(args[0], 0), nil
	}
	return element(args[0], -1), nil
}

func evalConcatArrays(_ string, args []bson.RawValue) (bson.RawValue, error) {
	b := value.NewBuilder(64)
	for _, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
		if v.Type != bson.TypeArray {
			return missing(), status.Errorf(28664, "$concatArrays only supports arrays, not %s", TypeName(v))
		}
		for item := range value.Items(v) {
			b.Push(item)
		}
	}
	return arrayValue(b), nil
}

func evalElementsTrue(name string, args []bson.RawValue) (bson.RawValue, error) {
	whole := name == "$allElementsTrue"
	if args[0].Type != bson.TypeArray {
		code := int32(17041)
		if whole {
			code = 17040
		}
		return missing(), status.Errorf(code, "%s's argument must be an array, but is %s", name, TypeName(args[0]))
	}
	for v := range value.Items(args[0]) {
		if Truthy(v) != whole {
			return value.Bool(!whole), nil
		}
	}
	return value.Bool(whole), nil
}

func evalIsArray(_ string, args []bson.RawValue) (bson.RawValue, error) {
	return value.Bool(args[0].Type == bson.TypeArray), nil
}

// eachNode is $map and $filter: it evaluates body for every element, which it
// binds to a variable.
type eachNode struct {
	filter      bool
	input, body node
	slot        int
}

func parseEach(c *compiler, name string, arg bson.RawValue) (node, error) {
	n := eachNode{filter: name == "$filter"}
	base, body := int32(16878), "in"
	if n.filter {
		base, body = 28646, "cond"
	}
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(base, "%s only supports an object as its argument", name)
	}
	input, in := value.Field(arg.Value, "input"), value.Field(arg.Value, body)
	switch {
	case input.Type == 0:
		return nil, status.Errorf(base+2, "Missing 'input' parameter to %s", name)
	case in.Type == 0:
		return nil, status.Errorf(base+4, "Missing '%s' parameter to %s", body, name)
	}
	variable, named := value.Field(arg.Value, "as").StringValueOK()
	if !named {
		variable = "this"
	}
	var err error
	if n.input, err = c.value(input); err != nil {
		return nil, err
	}
	n.slot, err = c.bind([]string{variable}, func() error {
		n.body, err = c.value(in)
		return err
	})
	return n, err
}

func (n eachNode) eval(c *evaluation) (bson.RawValue, error) {
	in, err := n.input.eval(c)
	if err != nil {
		return in, err
	}
	if nullish(in) {
		return value.Null(), nil
	}
	if in.Type != bson.TypeArray {
		if n.filter {
			return missing(), status.Errorf(28651, "input to $filter must be an array not %s", TypeName(in))
		}
		return missing(), status.Errorf(16883, "input to $map must be an array not %s", TypeName(in))
	}
	b := value.NewBuilder(len(in.Value))
	for item := range value.Items(in) {
		c.locals[n.slot] = item
		v, err := n.body.eval(c)
		if err != nil {
			return v, err
		}
		switch {
		case !n.filter:
			b.Push(orNull(v))
		case Truthy(v):
			b.Push(item)
		}
	}
	return arrayValue(b), nil
}

// evalMerge joins documents: a later value of a field replaces an earlier one in its place.
func evalMerge(_ string, args []bson.RawValue) (bson.RawValue, error) {
	var names []string
	values := map[string]bson.RawValue{}
	for _, v := range args {
		if nullish(v) {
			continue
		}
		if v.Type != bson.TypeEmbeddedDocument {
			return missing(), status.Errorf(40400, "$mergeObjects requires object inputs, but input %s is of type %s", Text(v), TypeName(v))
		}
		for k, item := range value.Elements(v.Value) {
			if _, seen := values[k]; !seen {
				names = append(names, k)
			}
			values[k] = item
		}
	}
	b := value.NewBuilder(256)
	for _, name := range names {
		b.Append(name, values[name])
	}
	return value.Doc(b.Raw()), nil
}

func evalObjectToArray(_ string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeEmbeddedDocument {
		return missing(), status.Errorf(40390, "$objectToArray requires a document input, found: %s", TypeName(args[0]))
	}
	b := value.NewBuilder(2 * len(args[0].Value))
	for k, v := range value.Elements(args[0].Value) {
		b.Push(value.Doc(value.NewBuilder(32+len(v.Value)).Append("k", value.String(k)).Append("v", v).Raw()))
	}
	return arrayValue(b), nil
}

func evalBSONSize(_ string, args []bson.RawValue) (bson.RawValue, error) {
	switch {
	case nullish(args[0]):
		return value.Null(), nil
	case args[0].Type != bson.TypeEmbeddedDocument:
		return missing(), status.Errorf(31393, "$bsonSize requires a document input, found: %s", TypeName(args[0]))
	}
	return value.Int32(int32(len(args[0].Value))), nil
}
