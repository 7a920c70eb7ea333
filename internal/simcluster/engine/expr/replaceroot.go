package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// replaceRoot is $replaceRoot and $replaceWith.
type replaceRoot struct {
	name string // what messages call the argument
	expr Expr
}

func (c *compiler) replaceRoot(name string, arg bson.RawValue) (Transform, error) {
	called := "'replacement document'"
	if name == "$replaceRoot" {
		called = "'newRoot' expression "
		if arg.Type != bson.TypeEmbeddedDocument {
			return nil, status.Errorf(40229, "expected an object as specification for $replaceRoot stage, got %s", TypeName(arg))
		}
		var root bson.RawValue
		for key, v := range fields(arg.Value) {
			if string(key) != "newRoot" {
				return nil, status.Errorf(40415, "BSON field '$replaceRoot.%s' is an unknown field.", key)
			}
			root = v
		}
		if root.Type == 0 {
			return nil, status.Errorf(40231, "no newRoot specified for the $replaceRoot stage")
		}
		arg = root
	}
	n, err := c.value(arg)
	return replaceRoot{called, Expr{n, c.peak}}, err
}

func (r replaceRoot) Apply(doc bson.Raw, env *Env) (bson.Raw, error) {
	v, err := r.expr.Eval(doc, env)
	if err != nil {
		return nil, err
	}
	if v.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(40228,
			"%s must evaluate to an object, but resulting value was: %s. Type of resulting value: '%s'. Input document: %s",
			r.name, Text(v), TypeName(v), Text(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: doc}))
	}
	return v.Value, nil
}
