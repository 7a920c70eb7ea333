package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

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

func evalMerge(_ string, args []bson.RawValue) (bson.RawValue, error) {
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

func evalObjectToArray(_ string, args []bson.RawValue) (bson.RawValue, error) {
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

func evalBSONSize(_ string, args []bson.RawValue) (bson.RawValue, error) {
	switch {
	case nullish(args[0]):
		return value.Null(), nil
	case args[0].Type != bson.TypeEmbeddedDocument:
		return missing(), status.Errorf(31393, "$bsonSize requires a document input, found: %s", TypeName(args[0]))
	}
	return value.Int32(int32(len(args[0].Value))), nil
}
