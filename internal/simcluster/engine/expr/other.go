package expr

import (
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func otherOperators(name string) parser {
	switch name {
	case "$literal", "$const":
		return func(_ *compiler, _ string, arg bson.RawValue) (node, error) { return constant{arg}, nil }
	case "$expr":
		return func(c *compiler, _ string, arg bson.RawValue) (node, error) { return c.value(arg) }
	case "$rand":
		return parseRand
	case "$toHashedIndexKey":
		// Its operand is one expression; an array is hashed as a value.
		return func(c *compiler, name string, arg bson.RawValue) (node, error) {
			n, err := c.value(arg)
			return call{name, []node{n}, evalHash}, err
		}
	}
	return nil
}

func evalHash(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	return value.Int64(value.Hash(orNull(args[0]))), nil
}

type randNode struct{}

func parseRand(_ *compiler, _ string, arg bson.RawValue) (node, error) {
	if (arg.Type != bson.TypeEmbeddedDocument && arg.Type != bson.TypeArray) || value.Len(arg.Value) != 0 {
		return nil, status.Errorf(3040501, "$rand does not currently accept arguments")
	}
	return randNode{}, nil
}

func (randNode) eval(c *evaluation) (bson.RawValue, error) {
	if c.env.Rand != nil {
		return value.Double(c.env.Rand()), nil
	}
	return value.Double(rand.Float64()), nil
}
