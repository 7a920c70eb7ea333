package expr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

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
