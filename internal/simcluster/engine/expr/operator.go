package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// parser compiles the argument of one operator.
type parser func(c *compiler, name string, arg bson.RawValue) (node, error)

// operator compiles {name: arg}. It has the operators that clients of sharded clusters use; any other fails as
// an unknown one does on a server.
func (c *compiler) operator(name string, arg bson.RawValue) (node, error) {
	p := parserOf(name)
	if p == nil {
		return nil, status.Errorf(status.InvalidPipelineOperator, "Unrecognized expression '%s'", name)
	}
	return p(c, name, arg)
}

// parserOf is a switch and not a map: the parsers call back into it, which a package variable could not.
func parserOf(name string) parser {
	switch name {
	case "$eq", "$ne", "$gt", "$gte", "$lt", "$lte", "$cmp":
		return parseComparison
	case "$and", "$or":
		return parseJunction
	case "$not":
		return fixed(1, evalNot)
	case "$cond":
		return parseCond
	case "$ifNull":
		return parseIfNull
	case "$add":
		return variadic(evalAdd)
	case "$subtract":
		return fixed(2, evalSubtract)
	case "$multiply":
		return variadic(evalMultiply)
	case "$divide", "$mod":
		return fixed(2, evalDivide)
	case "$sum", "$avg", "$min", "$max":
		return variadic(evalTotal)
	case "$size":
		return fixed(1, evalSize)
	case "$in":
		return fixed(2, evalIn)
	case "$arrayElemAt":
		return fixed(2, evalElemAt)
	case "$first", "$last":
		return fixed(1, evalEnd)
	case "$concatArrays":
		return variadic(evalConcatArrays)
	case "$isArray":
		return fixed(1, evalIsArray)
	case "$anyElementTrue", "$allElementsTrue":
		return fixed(1, evalElementsTrue)
	case "$map", "$filter":
		return parseEach
	case "$mergeObjects":
		return variadic(evalMerge)
	case "$objectToArray":
		return fixed(1, evalObjectToArray)
	case "$bsonSize":
		return fixed(1, evalBSONSize)
	case "$type":
		return fixed(1, evalType)
	case "$literal", "$const":
		return parseLiteral
	case "$expr":
		return func(c *compiler, _ string, arg bson.RawValue) (node, error) { return c.value(arg) }
	case "$toHashedIndexKey":
		return parseHash
	}
	return nil
}

// function computes an operator from its evaluated operands.
type function func(name string, args []bson.RawValue) (bson.RawValue, error)

// call applies a function to operands that are all evaluated first.
type call struct {
	name string
	args []node
	f    function
}

func (n call) eval(c *evaluation) (bson.RawValue, error) {
	var few [3]bson.RawValue
	args := few[:0]
	for _, a := range n.args {
		v, err := a.eval(c)
		if err != nil {
			return missing(), err
		}
		args = append(args, v)
	}
	return n.f(n.name, args)
}

// fixed is an operator with exactly n operands.
func fixed(n int, f function) parser {
	return func(c *compiler, name string, arg bson.RawValue) (node, error) {
		args, err := c.operandsExactly(n, name, arg)
		return call{name, args, f}, err
	}
}

// variadic is an operator with any number of operands.
func variadic(f function) parser {
	return func(c *compiler, name string, arg bson.RawValue) (node, error) {
		args, err := c.operands(arg)
		return call{name, args, f}, err
	}
}

// operandsExactly compiles the operands of an operator that takes n of them.
func (c *compiler) operandsExactly(n int, name string, arg bson.RawValue) ([]node, error) {
	args, err := c.operands(arg)
	if err == nil && len(args) != n {
		err = status.Errorf(16020, "Expression %s takes exactly %d arguments. %d were passed in.", name, n, len(args))
	}
	return args, err
}

func parseLiteral(_ *compiler, _ string, arg bson.RawValue) (node, error) { return constant{arg}, nil }

// parseHash takes one expression; an array is hashed as a value.
func parseHash(c *compiler, name string, arg bson.RawValue) (node, error) {
	n, err := c.value(arg)
	return call{name, []node{n}, func(_ string, args []bson.RawValue) (bson.RawValue, error) {
		return value.Int64(value.Hash(orNull(args[0]))), nil
	}}, err
}

func evalType(_ string, args []bson.RawValue) (bson.RawValue, error) {
	return value.String(TypeName(args[0])), nil
}
