// Package query implements filters, projections, sort patterns and updates of MongoDB
// 5.0. They are compiled once and then applied to raw documents. Compiled values are
// immutable and safe for concurrent use; they alias the documents from which they were
// compiled, which must not be changed.
//
// Errors are *status.Error (or an expr error) with the server's codes.
package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
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
	return f.root.match(value.Doc(doc))
}

// node is one condition on a document, or on an element of an array.
type node interface {
	match(v bson.RawValue) (bool, error)
}

// all holds when every part does.
type all []node

func (n all) match(v bson.RawValue) (bool, error) {
	for _, part := range n {
		if ok, err := part.match(v); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// some holds when any part does.
type some []node

func (n some) match(v bson.RawValue) (bool, error) {
	for _, part := range n {
		if ok, err := part.match(v); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

// not negates a condition.
type not struct{ node }

func (n not) match(v bson.RawValue) (bool, error) {
	ok, err := n.node.match(v)
	return !ok && err == nil, err
}

// field holds when any value at the path satisfies the test. open: elements of an array at the
// end of the path count as values too. Without a path it is a condition on an element of an array.
type field struct {
	name string // dotted
	path []string
	test test
	open bool
}

func (n *field) match(v bson.RawValue) (bool, error) {
	switch len(n.path) {
	case 0:
		return n.test.holds(v), nil
	case 1: // the common case, without a closure
		if at := value.Field(v.Value, n.name); at.Type != bson.TypeArray {
			return n.test.holds(at), nil
		}
	}
	found := false
	value.Walk(v.Value, n.path, n.open, func(at bson.RawValue) bool {
		found = n.test.holds(at)
		return !found
	})
	return found, nil
}

// of is a condition on the same values, which may be elements of an array.
func (n field) of(t test) *field {
	n.test, n.open = t, true
	return &n
}

// computed is $expr.
type computed struct {
	expr expr.Expr
	env  *expr.Env
}

func (n *computed) match(v bson.RawValue) (bool, error) {
	result, err := n.expr.Eval(v.Value, n.env)
	return err == nil && expr.Truthy(result), err
}

// maxDepth bounds the nesting of a filter, as the server's parser does.
const maxDepth = 100

// parser compiles filters. inside is true within $elemMatch, where $expr is not allowed.
type parser struct {
	env    *expr.Env
	inside bool
	depth  int
}

// filter compiles a filter document to the conjunction of its fields.
func (p *parser) filter(doc bson.Raw) (node, error) {
	if p.depth++; p.depth > maxDepth {
		return nil, status.Errorf(status.BadValue, "exceeded maximum query tree depth of %d at ", maxDepth)
	}
	defer func() { p.depth-- }()
	var parts all
	for name, v := range value.Elements(doc) {
		var n node
		var err error
		if strings.HasPrefix(name, "$") {
			n, err = p.topLevel(name, v)
		} else {
			n, err = p.condition(field{name: name, path: strings.Split(name, ".")}, v)
		}
		if err != nil {
			return nil, err
		}
		if n != nil {
			parts = append(parts, n)
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return parts, nil
}

func (p *parser) topLevel(name string, v bson.RawValue) (node, error) {
	switch name {
	case "$and", "$or", "$nor":
		parts, err := p.list(name, v)
		if err != nil {
			return nil, err
		}
		switch name {
		case "$and":
			return all(parts), nil
		case "$or":
			return some(parts), nil
		}
		return not{some(parts)}, nil
	case "$expr":
		if p.inside {
			return nil, status.Errorf(status.BadValue, "$expr can only be applied to the top-level document")
		}
		compiled, err := p.env.Compile(v)
		if err != nil {
			return nil, err
		}
		return &computed{compiled, p.env}, nil
	case "$comment":
		return nil, nil
	case "$where":
		return nil, status.Errorf(status.BadValue, "no globalScriptEngine in $where parsing")
	case "$text":
		return nil, status.Errorf(status.IndexNotFound, "text index required for $text query")
	}
	return nil, status.Errorf(status.BadValue,
		"unknown top level operator: %s. If you have a field name that starts with a '$' symbol, consider using $getField or $setField.", name)
}

func (p *parser) list(name string, v bson.RawValue) ([]node, error) {
	if v.Type != bson.TypeArray {
		return nil, status.Errorf(status.BadValue, "%s must be an array", name)
	}
	var parts []node
	for item := range value.Items(v) {
		if item.Type != bson.TypeEmbeddedDocument {
			return nil, status.Errorf(status.BadValue, "$or/$and/$nor entries need to be full objects")
		}
		n, err := p.filter(item.Value)
		if err != nil {
			return nil, err
		}
		parts = append(parts, n)
	}
	if len(parts) == 0 {
		return nil, status.Errorf(status.BadValue, "$and/$or/$nor must be a nonempty array")
	}
	return parts, nil
}

// condition compiles what a filter says about a field: operators, a regular expression, or equality.
func (p *parser) condition(at field, v bson.RawValue) (node, error) {
	switch {
	case isOperators(v):
		return p.operators(at, v.Value)
	case v.Type == bson.TypeRegex:
		re, err := regexOf(v)
		return at.of(re), err
	case v.Type == bson.TypeUndefined:
		return nil, status.Errorf(status.BadValue, "cannot compare to undefined")
	}
	return at.of(comparison{equal, v}), nil
}

// isOperators reports whether a document holds operators: its first field begins with "$" and it is no DBRef.
func isOperators(v bson.RawValue) bool {
	if v.Type != bson.TypeEmbeddedDocument {
		return false
	}
	name, _ := value.First(v.Value)
	return strings.HasPrefix(name, "$") && name != "$ref" && name != "$id" && name != "$db"
}
