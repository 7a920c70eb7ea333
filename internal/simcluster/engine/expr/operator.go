package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// parser compiles the argument of one operator.
type parser func(c *compiler, name string, arg bson.RawValue) (node, error)

// operator compiles {name: arg}. The operators live in one file per family;
// each family is a function rather than a map because the parsers call back
// into this one, which a package variable could not.
func (c *compiler) operator(name string, arg bson.RawValue) (node, error) {
	for _, family := range [...]func(string) parser{
		comparisonOperators, logicOperators, arithmeticOperators, roundingOperators, totalOperators,
		stringOperators, searchOperators, substringOperators, regexOperators,
		arrayOperators, rangeOperators, lambdaOperators, setOperators,
		objectOperators, fieldOperators, typeOperators, convertOperators,
		dateOperators, dateArithmeticOperators, dateTextOperators, otherOperators,
	} {
		if p := family(name); p != nil {
			return p(c, name, arg)
		}
	}
	return nil, status.Errorf(status.InvalidPipelineOperator, "Unrecognized expression '%s'", name)
}

// function computes an operator from its evaluated operands.
type function func(c *evaluation, name string, args []bson.RawValue) (bson.RawValue, error)

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
	return n.f(c, n.name, args)
}

// fixed is an operator with exactly n operands.
func fixed(n int, f function) parser {
	return func(c *compiler, name string, arg bson.RawValue) (node, error) {
		args, err := c.operands(arg)
		if err != nil {
			return nil, err
		}
		if len(args) != n {
			return nil, status.Errorf(16020, "Expression %s takes exactly %d arguments. %d were passed in.", name, n, len(args))
		}
		return call{name, args, f}, nil
	}
}

// between is an operator with lo to hi operands.
func between(lo, hi int, f function) parser {
	return func(c *compiler, name string, arg bson.RawValue) (node, error) {
		args, err := c.operands(arg)
		if err != nil {
			return nil, err
		}
		if len(args) < lo || len(args) > hi {
			return nil, status.Errorf(28667, "Expression %s takes at least %d arguments, and at most %d, but %d were passed in.",
				name, lo, hi, len(args))
		}
		return call{name, args, f}, nil
	}
}

// variadic is an operator with any number of operands.
func variadic(f function) parser {
	return func(c *compiler, name string, arg bson.RawValue) (node, error) {
		args, err := c.operands(arg)
		return call{name, args, f}, err
	}
}

// named compiles an operator whose operands are fields of a document. Operands
// that are absent stay nil; a field that is not listed goes to unknown.
func (c *compiler) named(arg bson.RawValue, names []string, unknown func(field string) error) ([]node, error) {
	out := make([]node, len(names))
next:
	for key, v := range fields(arg.Value) {
		for i, name := range names {
			if string(key) == name {
				n, err := c.value(v)
				if err != nil {
					return nil, err
				}
				out[i] = n
				continue next
			}
		}
		return nil, unknown(string(key))
	}
	return out, nil
}

// optional evaluates a node that may be absent; given says whether it is there.
func (c *evaluation) optional(n node) (v bson.RawValue, given bool, err error) {
	if n == nil {
		return missing(), false, nil
	}
	v, err = n.eval(c)
	return v, true, err
}
