package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func logicOperators(name string) parser {
	switch name {
	case "$and", "$or":
		return func(c *compiler, name string, arg bson.RawValue) (node, error) {
			args, err := c.operands(arg)
			return junction{args, name == "$or"}, err
		}
	case "$not":
		return fixed(1, func(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
			return value.Bool(!Truthy(args[0])), nil
		})
	case "$cond":
		return parseCond
	case "$ifNull":
		return parseIfNull
	case "$switch":
		return parseSwitch
	}
	return nil
}

// junction is $and and $or; it stops at the first deciding operand.
type junction struct {
	args    []node
	decides bool
}

func (n junction) eval(c *evaluation) (bson.RawValue, error) {
	for _, a := range n.args {
		v, err := a.eval(c)
		if err != nil {
			return v, err
		}
		if Truthy(v) == n.decides {
			return value.Bool(n.decides), nil
		}
	}
	return value.Bool(!n.decides), nil
}

// ifNull yields its first operand that is not null, else the last one as it is.
type ifNull []node

func parseIfNull(c *compiler, _ string, arg bson.RawValue) (node, error) {
	args, err := c.operands(arg)
	if err != nil {
		return nil, err
	}
	if len(args) < 2 {
		return nil, status.Errorf(1257300, "$ifNull needs at least two arguments, had: %d", len(args))
	}
	return ifNull(args), nil
}

func (n ifNull) eval(c *evaluation) (bson.RawValue, error) {
	for _, a := range n[:len(n)-1] {
		v, err := a.eval(c)
		if err != nil || !nullish(v) {
			return v, err
		}
	}
	return n[len(n)-1].eval(c)
}
