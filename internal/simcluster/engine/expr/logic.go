package expr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// comparison is a separate node without an operand list, because filters evaluate it
// for every document.
type comparison struct {
	op          string
	left, right node
}

func parseComparison(c *compiler, name string, arg bson.RawValue) (node, error) {
	args, err := c.operandsExactly(2, name, arg)
	if err != nil {
		return nil, err
	}
	return comparison{name, args[0], args[1]}, nil
}

func (n comparison) eval(c *evaluation) (bson.RawValue, error) {
	a, err := n.left.eval(c)
	if err != nil {
		return a, err
	}
	b, err := n.right.eval(c)
	if err != nil {
		return b, err
	}
	return compared(n.op, value.Compare(a, b)), nil
}

func compared(op string, r int) bson.RawValue {
	switch op {
	case "$eq":
		return value.Bool(r == 0)
	case "$ne":
		return value.Bool(r != 0)
	case "$gt":
		return value.Bool(r > 0)
	case "$gte":
		return value.Bool(r >= 0)
	case "$lt":
		return value.Bool(r < 0)
	case "$lte":
		return value.Bool(r <= 0)
	}
	return value.Int32(int32(r))
}

// junction is $and and $or; it stops at the first deciding operand.
type junction struct {
	args    []node
	decides bool
}

func parseJunction(c *compiler, name string, arg bson.RawValue) (node, error) {
	args, err := c.operands(arg)
	return junction{args, name == "$or"}, err
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

func evalNot(_ string, args []bson.RawValue) (bson.RawValue, error) {
	return value.Bool(!Truthy(args[0])), nil
}

// cond is $cond: if, then, else.
type cond [3]node

func parseCond(c *compiler, name string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		args, err := c.operandsExactly(3, name, arg)
		if err != nil {
			return nil, err
		}
		return cond(args), nil
	}
	var n cond
	for i, part := range [...]string{"if", "then", "else"} {
		v := value.Field(arg.Value, part)
		if v.Type == 0 {
			return nil, status.Errorf(17080+int32(i), "Missing '%s' parameter to $cond", part)
		}
		var err error
		if n[i], err = c.value(v); err != nil {
			return nil, err
		}
	}
	return n, nil
}

func (n cond) eval(c *evaluation) (bson.RawValue, error) {
	v, err := n[0].eval(c)
	switch {
	case err != nil:
		return v, err
	case Truthy(v):
		return n[1].eval(c)
	}
	return n[2].eval(c)
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

// Equality is a field that must equal a value.
type Equality struct {
	Path  string
	Value bson.RawValue
}

// Equalities are conditions that hold for every document for which the
// expression is true: those of the form {$eq: [field, value]}, alone or under
// $and, whose value does not depend on the document. They let an $expr use an
// index, as the server's own rewriting does.
//
// Only values are given for which a filter {path: {$eq: value}} accepts at
// least the same documents, so not null, missing, arrays and regular
// expressions, which filters and expressions compare differently.
func (e Expr) Equalities(env *Env) []Equality {
	c := newEvaluation(nil, env, e.locals)
	return equalities(nil, c, e.root)
}

func equalities(out []Equality, c *evaluation, n node) []Equality {
	switch n := n.(type) {
	case junction:
		if !n.decides { // $and
			for _, a := range n.args {
				out = equalities(out, c, a)
			}
		}
	case comparison:
		if n.op != "$eq" {
			break
		}
		path, v := n.left, n.right
		if _, ok := path.(rootPath); !ok {
			path, v = v, path
		}
		p, ok := path.(rootPath)
		if !ok || !independent(v) {
			break
		}
		value, err := v.eval(c)
		if err != nil || nullish(value) || value.Type == bson.TypeArray || value.Type == bson.TypeRegex {
			break
		}
		out = append(out, Equality{strings.Join(p, "."), value})
	}
	return out
}

// independent reports whether a node has the same value for every document.
func independent(n node) bool {
	switch n := n.(type) {
	case constant, userNode, clockNode:
		return true
	case pathNode:
		_, ok := n.base.(userNode)
		return ok
	}
	return false
}
