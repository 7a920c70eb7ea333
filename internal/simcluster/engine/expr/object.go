package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func objectOperators(name string) parser {
	switch name {
	case "$mergeObjects":
		return variadic(evalMerge)
	case "$objectToArray":
		return fixed(1, evalObjectToArray)
	case "$arrayToObject":
		return fixed(1, evalArrayToObject)
	case "$bsonSize":
		return fixed(1, func(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
			switch {
			case nullish(args[0]):
				return value.Null(), nil
			case args[0].Type != bson.TypeEmbeddedDocument:
				return missing(), status.Errorf(31393, "$bsonSize requires a document input, found: %s", TypeName(args[0]))
			}
			return value.Int32(int32(len(args[0].Value))), nil
		})
	case "$binarySize":
		return fixed(1, evalBinarySize)
	}
	return nil
}

// object collects fields by name; a later value replaces an earlier one in its
// place.
type object struct {
	names  []string
	values []bson.RawValue
	index  map[string]int // built when there are many fields
}

func (o *object) find(name string) (int, bool) {
	if o.index != nil {
		i, ok := o.index[name]
		return i, ok
	}
	for i, n := range o.names {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

func (o *object) set(name string, v bson.RawValue) {
	if i, ok := o.find(name); ok {
		o.values[i] = v
		return
	}
	o.names, o.values = append(o.names, name), append(o.values, v)
	switch {
	case o.index != nil:
		o.index[name] = len(o.names) - 1
	case len(o.names) == 32:
		o.index = make(map[string]int, 64)
		for i, n := range o.names {
			o.index[n] = i
		}
	}
}

func (o *object) setAll(doc []byte) {
	for k, v := range fields(doc) {
		o.set(string(k), v)
	}
}

func (o *object) raw() bson.Raw {
	b := value.NewBuilder(256)
	for i, n := range o.names {
		b.Append(n, o.values[i])
	}
	return b.Raw()
}

// Merge puts the fields of each document over those of the ones before.
func Merge(docs ...bson.Raw) bson.Raw {
	var o object
	for _, d := range docs {
		o.setAll(d)
	}
	return o.raw()
}

func evalMerge(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	var o object
	for _, v := range args {
		if nullish(v) {
			continue
		}
		if v.Type != bson.TypeEmbeddedDocument {
			return missing(), status.Errorf(40400, "$mergeObjects requires object inputs, but input %s is of type %s", Text(v), TypeName(v))
		}
		o.setAll(v.Value)
	}
	return value.Doc(o.raw()), nil
}

func evalObjectToArray(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeEmbeddedDocument {
		return missing(), status.Errorf(40390, "$objectToArray requires a document input, found: %s", TypeName(args[0]))
	}
	b := value.NewBuilder(2 * len(args[0].Value))
	for k, v := range fields(args[0].Value) {
		b.Push(value.Doc(value.NewBuilder(32+len(v.Value)).Append("k", value.String(string(k))).Append("v", v).Raw()))
	}
	return arrayValue(b), nil
}

// evalArrayToObject takes [[k, v], …] or [{k: …, v: …}, …].
func evalArrayToObject(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeArray {
		return missing(), status.Errorf(40386, "$arrayToObject requires an array input, found: %s", TypeName(args[0]))
	}
	var o object
	shape := bson.Type(0)
	for item := range items(args[0].Value) {
		if shape == 0 {
			shape = item.Type
			if shape != bson.TypeArray && shape != bson.TypeEmbeddedDocument {
				return missing(), status.Errorf(40398, "Unrecognised input type format for $arrayToObject: %s", TypeName(item))
			}
		}
		if item.Type != shape {
			if shape == bson.TypeArray {
				return missing(), status.Errorf(40396, "$arrayToObject requires a consistent input format. Elements must all be "+
					"arrays or all be objects. Array was detected, now found: %s", TypeName(item))
			}
			return missing(), status.Errorf(40391, "$arrayToObject requires a consistent input format. Elements must all be "+
				"arrays or all be objects. Object was detected, now found: %s", TypeName(item))
		}
		var k, v bson.RawValue
		if shape == bson.TypeArray {
			pair := slice(item.Value)
			if len(pair) != 2 {
				return missing(), status.Errorf(40397, "$arrayToObject requires an array of size 2 arrays,found array of size: %d", len(pair))
			}
			k, v = pair[0], pair[1]
		} else {
			if n := value.Len(item.Value); n != 2 {
				return missing(), status.Errorf(40392, "$arrayToObject requires an object keys of 'k' and 'v'. Found incorrect number of keys:%d", n)
			}
			k, v = value.Field(item.Value, "k"), value.Field(item.Value, "v")
			if k.Type == 0 || v.Type == 0 {
				return missing(), status.Errorf(40393,
					"$arrayToObject requires an object with keys 'k' and 'v'. Missing either or both keys from: %s", Text(item))
			}
		}
		if k.Type != bson.TypeString {
			code := int32(40394)
			if shape == bson.TypeArray {
				code = 40395
			}
			return missing(), status.Errorf(code,
				"$arrayToObject requires an object with keys 'k' and 'v', where the value of 'k' must be of type string. Found type: %s", TypeName(k))
		}
		o.set(str(k), v)
	}
	return value.Doc(o.raw()), nil
}

func evalBinarySize(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	switch v := args[0]; {
	case nullish(v):
		return value.Null(), nil
	case v.Type == bson.TypeString:
		return value.Int32(int32(len(str(v)))), nil
	case v.Type == bson.TypeBinary:
		return value.Int32(int32(len(v.Value) - 5)), nil
	default:
		return missing(), status.Errorf(51276, "$binarySize requires a string or BinData argument, found: %s", TypeName(v))
	}
}
