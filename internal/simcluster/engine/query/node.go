package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/value"
)

// node is one condition on a document.
type node interface {
	match(doc bson.Raw) (bool, error)
}

// all holds when every part does.
type all []node

func (n all) match(doc bson.Raw) (bool, error) {
	for _, part := range n {
		if ok, err := part.match(doc); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// some holds when any part does.
type some []node

func (n some) match(doc bson.Raw) (bool, error) {
	for _, part := range n {
		if ok, err := part.match(doc); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// not negates a condition.
type not struct{ node }

func (n not) match(doc bson.Raw) (bool, error) {
	ok, err := n.node.match(doc)
	return !ok && err == nil, err
}

// field holds when any value at the path satisfies the test. open: elements of an array at the
// end of the path count as values too.
type field struct {
	name string // dotted
	path []string
	test test
	open bool
}

func (n *field) match(doc bson.Raw) (bool, error) {
	if len(n.path) == 1 { // the common case, without a closure
		if v := value.Field(doc, n.name); v.Type != bson.TypeArray {
			return n.test.holds(v), nil
		}
	}
	found := false
	value.Walk(doc, n.path, n.open, func(v bson.RawValue) bool {
		found = n.test.holds(v)
		return !found
	})
	return found, nil
}

// computed is $expr.
type computed struct {
	expr expr.Expr
	env  *expr.Env
}

func (n *computed) match(doc bson.Raw) (bool, error) {
	v, err := n.expr.Eval(doc, n.env)
	return err == nil && expr.Truthy(v), err
}
