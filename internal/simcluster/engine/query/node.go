package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/value"
)

// node is one condition on a document. position, when not nil, receives the index of the first
// array element that satisfied a condition.
type node interface {
	match(doc bson.Raw, position *int) (bool, error)
}

// all holds when every part does.
type all []node

func (n all) match(doc bson.Raw, position *int) (bool, error) {
	for _, part := range n {
		if ok, err := part.match(doc, position); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// some holds when any part does.
type some []node

func (n some) match(doc bson.Raw, position *int) (bool, error) {
	for _, part := range n {
		if ok, err := part.match(doc, position); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// not negates a condition; it sets no position.
type not struct{ node }

func (n not) match(doc bson.Raw, _ *int) (bool, error) {
	ok, err := n.node.match(doc, nil)
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

func (n *field) match(doc bson.Raw, position *int) (bool, error) {
	if len(n.path) == 1 { // the common case, without a closure
		if v := value.Field(doc, n.name); v.Type != bson.TypeArray {
			return n.test.holds(v, nil), nil
		}
	}
	found := false
	value.WalkIndexed(doc, n.path, n.open, func(v bson.RawValue, outer int) bool {
		inner := -1
		if !n.test.holds(v, &inner) {
			return true
		}
		found = true
		if outer < 0 {
			outer = inner
		}
		if position != nil && *position < 0 {
			*position = outer
		}
		return false
	})
	return found, nil
}

// computed is $expr.
type computed struct {
	expr expr.Expr
	env  *expr.Env
}

func (n *computed) match(doc bson.Raw, _ *int) (bool, error) {
	v, err := n.expr.Eval(doc, n.env)
	return err == nil && expr.Truthy(v), err
}

// fixed is $alwaysTrue and $alwaysFalse.
type fixed bool

func (n fixed) match(bson.Raw, *int) (bool, error) { return bool(n), nil }
