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
	u := unwinding{}
	path := arg
	switch arg.Type {
	case bson.TypeString:
	case bson.TypeEmbeddedDocument:
		path = bson.RawValue{}
		for k, v := range value.Elements(arg.Value) {
			switch k {
			case "path":
				if v.Type != bson.TypeString {
					return nil, status.Errorf(28808, "expected a string as the path for $unwind stage, got %s", expr.TypeName(v))
				}
				path = v
			case "preserveNullAndEmptyArrays":
				b, ok := v.BooleanOK()
				if !ok {
					return nil, status.Errorf(28809,
						"expected a boolean for the preserveNullAndEmptyArrays option to $unwind stage, got %s", expr.TypeName(v))
				}
				u.keep = b
			case "includeArrayIndex":
				s, ok := text(v)
				if !ok || s == "" {
					return nil, status.Errorf(28810,
						"expected a non-empty string for the includeArrayIndex  option to $unwind stage, got %s", expr.TypeName(v))
				}
				if dollar(s) {
					return nil, status.Errorf(28822, "includeArrayIndex option to $unwind stage should not be prefixed with a '$': %s", s)
				}
				u.index = strings.Split(s, ".")
			default:
				return nil, status.Errorf(28811, "unrecognized option to $unwind stage: %s", k)
			}
		}
	default:
		return nil, status.Errorf(15981, "expected either a string or an object as specification for $unwind stage, got %s", expr.TypeName(arg))
	}
	s, _ := text(path)
	if s == "" {
		return nil, status.Errorf(28812, "no path specified to $unwind stage")
	}
	if !dollar(s) {
		return nil, status.Errorf(28818, "path option to $unwind stage should be prefixed with a '$': %s", s)
	}
	if _, err := c.env.Expr.Compile(value.String(s)); err != nil {
		return nil, err
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
			if !yield(u.numbered(put(d, u.path, item), value.Int64(i))) {
				return false
			}
			i++
		}
		if i > 0 || !u.keep {
			return true
		}
		return yield(u.numbered(put(d, u.path, bson.RawValue{}), value.Null()))
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
	return put(d, u.index, i)
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

// put returns d with the value at path replaced (removed if missing); documents on the
// path are created as needed.
func put(d bson.Raw, path []string, v bson.RawValue) bson.Raw {
	b := value.NewBuilder(len(d) + 16)
	found := false
	inner := func(old bson.RawValue) bson.RawValue {
		if len(path) == 1 {
			return v
		}
		if old.Type != bson.TypeEmbeddedDocument {
			old.Value = nil
		}
		return value.Doc(put(old.Value, path[1:], v))
	}
	for k, old := range value.Elements(d) {
		if k == path[0] && !found {
			found, old = true, inner(old)
		}
		b.Append(k, old)
	}
	if !found && v.Type != 0 {
		b.Append(path[0], inner(bson.RawValue{}))
	}
	return b.Raw()
}
