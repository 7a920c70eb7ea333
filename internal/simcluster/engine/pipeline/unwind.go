package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// unwinding is $unwind: one document per element of the array at path.
type unwinding struct {
	path  []string
	index []string // where the position goes; nil = nowhere
	keep  bool     // keep documents without elements
}

func (c *compiler) unwind(arg bson.RawValue) (stage, error) {
	u, path := unwinding{}, arg
	if arg.Type == bson.TypeEmbeddedDocument {
		path = value.Field(arg.Value, "path")
		u.keep = value.True(value.Field(arg.Value, "preserveNullAndEmptyArrays"))
		if s, ok := text(value.Field(arg.Value, "includeArrayIndex")); ok {
			u.index = strings.Split(s, ".")
		}
	}
	s, ok := text(path)
	switch {
	case !ok && arg.Type != bson.TypeEmbeddedDocument:
		return nil, status.Errorf(15981, "expected either a string or an object as specification for $unwind stage, got %s", expr.TypeName(arg))
	case s == "":
		return nil, status.Errorf(28812, "no path specified to $unwind stage")
	case !dollar(s):
		return nil, status.Errorf(28818, "path option to $unwind stage should be prefixed with a '$': %s", s)
	}
	u.path = strings.Split(s[1:], ".")
	return each(func(doc bson.Raw, out func(bson.Raw) bool) (bool, error) { return u.each(doc, out), nil }), nil
}

func (u unwinding) each(d bson.Raw, yield func(bson.Raw) bool) bool {
	v := at(d, u.path)
	switch v.Type {
	case bson.TypeArray:
		i := int64(0)
		for item := range value.Items(v) {
			if !yield(u.numbered(value.Put(d, u.path, item), value.Int64(i))) {
				return false
			}
			i++
		}
		if i > 0 || !u.keep {
			return true
		}
		return yield(u.numbered(value.Put(d, u.path, bson.RawValue{}), value.Null()))
	case 0, bson.TypeNull, bson.TypeUndefined:
		if !u.keep {
			return true
		}
	}
	return yield(u.numbered(d, value.Null()))
}

func (u unwinding) numbered(d bson.Raw, i bson.RawValue) bson.Raw {
	if u.index == nil {
		return d
	}
	return value.Put(d, u.index, i)
}

// at follows documents only: a path never crosses an array here.
func at(d bson.Raw, path []string) bson.RawValue {
	v := value.Field(d, path[0])
	for _, name := range path[1:] {
		if v.Type != bson.TypeEmbeddedDocument {
			return bson.RawValue{}
		}
		v = value.Field(v.Value, name)
	}
	return v
}
