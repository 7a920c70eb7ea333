// Package query implements filters, projections, sort patterns and updates of MongoDB
// 5.0. They are compiled once and then applied to raw documents. Compiled values are
// immutable and safe for concurrent use; they alias the documents from which they were
// compiled, which must not be changed.
//
// Errors are *status.Error (or an expr error) with the server's codes.
package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
)

// Filter is a compiled filter document. The zero value and nil match everything.
type Filter struct {
	root node
	raw  bson.Raw
	env  *expr.Env
}

// Parse compiles a filter; env (may be nil) serves $expr.
func Parse(filter bson.Raw, env *expr.Env) (*Filter, error) {
	f := &Filter{raw: filter, env: env}
	if value := filter; len(value) <= 5 {
		return f, nil
	}
	p := parser{env: env}
	root, err := p.filter(filter)
	if err != nil {
		return nil, err
	}
	f.root = root
	return f, nil
}

// Raw is the document the filter was compiled from.
func (f *Filter) Raw() bson.Raw {
	if f == nil {
		return nil
	}
	return f.raw
}

// Empty reports whether the filter matches everything by having no conditions.
func (f *Filter) Empty() bool { return f == nil || f.root == nil }

// Match reports whether the document satisfies the filter. Only $expr can fail.
func (f *Filter) Match(doc bson.Raw) (bool, error) {
	if f.Empty() {
		return true, nil
	}
	return f.root.match(doc)
}
