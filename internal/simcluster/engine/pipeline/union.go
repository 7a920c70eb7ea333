package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// union is $unionWith: the input, then another collection.
func (c *compiler) union(arg bson.RawValue) (stage, error) {
	coll, ok := text(arg)
	var stages []bson.Raw
	if !ok {
		if arg.Type != bson.TypeEmbeddedDocument {
			return nil, status.Errorf(status.FailedToParse,
				"the $unionWith stage specification must be an object or string, but found %s", expr.TypeName(arg))
		}
		coll, _ = text(value.Field(arg.Value, "coll"))
		if v := value.Field(arg.Value, "pipeline"); v.Type != 0 {
			var err error
			if stages, err = List(v); err != nil {
				return nil, err
			}
		}
		if coll == "" {
			return nil, status.Errorf(40414, "BSON field '$unionWith.coll' is missing but a required field")
		}
	}
	if c.env.Lookup == nil {
		return nil, status.Errorf(status.CommandNotSupported, "$unionWith is not available here")
	}
	if _, err := Compile(stages, c.env); err != nil {
		return nil, err
	}
	env := c.env
	return stageFunc(func(in Docs) Docs {
		return concat(in, func(yield func(bson.Raw, error) bool) {
			for d, err := range env.Lookup(env.DB, coll, stages, env.Expr.Vars) {
				if !yield(d, err) {
					return
				}
			}
		})
	}), nil
}

// concat is one stream after the other.
func concat(streams ...Docs) Docs {
	return func(yield func(bson.Raw, error) bool) {
		for _, s := range streams {
			for d, err := range s {
				if !yield(d, err) || err != nil {
					return
				}
			}
		}
	}
}
