package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *compiler) group(arg bson.RawValue) (stage, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(15947, "a group's fields must be specified in an object")
	}
	g := &grouping{env: &c.env.Expr}
	hasID := false
	for name, v := range value.Elements(arg.Value) {
		var err error
		switch {
		case name == "_id":
			hasID = true
			err = g.setID(v)
		case name == markPartial:
			g.partial = true
		case name == markMerging:
			g.merging = true
		default:
			err = g.accumulate(name, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if !hasID {
		return nil, status.Errorf(15955, "a group specification must include an _id")
	}
	return g, nil
}

func (g *grouping) setID(v bson.RawValue) error {
	first := ""
	if v.Type == bson.TypeEmbeddedDocument {
		first, _ = value.First(v.Value)
	}
	if v.Type != bson.TypeEmbeddedDocument || dollar(first) || value.Len(v.Value) == 0 {
		var err error
		g.id, err = g.env.Compile(v)
		return err
	}
	g.byDoc = true
	for name, e := range value.Elements(v.Value) {
		switch {
		case dollar(name):
			return status.Errorf(17390, "$group does not support inclusion-style expressions")
		case strings.Contains(name, "."):
			return status.Errorf(16412, "FieldPath field names may not contain '.'. Consider using $getField or $setField.")
		}
		compiled, err := g.env.Compile(e)
		if err != nil {
			return err
		}
		g.parts = append(g.parts, idPart{name, compiled})
	}
	return nil
}

func (g *grouping) accumulate(name string, v bson.RawValue) error {
	switch {
	case strings.Contains(name, "."):
		return status.Errorf(40235, "The field name '%s' cannot contain '.'", name)
	case dollar(name):
		return status.Errorf(40236, "The field name '%s' cannot be an operator name", name)
	case v.Type != bson.TypeEmbeddedDocument || value.Len(v.Value) == 0:
		return status.Errorf(40234, "The field '%s' must be an accumulator object", name)
	case value.Len(v.Value) != 1:
		return status.Errorf(40238, "The field '%s' must specify one accumulator", name)
	}
	op, arg := value.First(v.Value)
	maker := accumulatorFor(op)
	if maker == nil {
		return status.Errorf(15952, "unknown group operator '%s'", op)
	}
	if op == "$count" {
		if arg.Type != bson.TypeEmbeddedDocument || value.Len(arg.Value) != 0 {
			return status.Errorf(status.TypeMismatch, "$count takes no arguments, i.e. $count:{}")
		}
		arg = one()
	} else if arg.Type == bson.TypeArray {
		return status.Errorf(40237, "The %s accumulator is a unary operator", op)
	}
	e, err := g.env.Compile(arg)
	g.accs = append(g.accs, accumulation{name, maker, e})
	return err
}
