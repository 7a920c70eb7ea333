package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

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
			n, err = p.condition(name, v)
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

// condition compiles "path: value": operators, a regular expression, or equality.
func (p *parser) condition(path string, v bson.RawValue) (node, error) {
	c, err := p.conditions(path, v)
	if err != nil {
		return nil, err
	}
	return c.node(path, strings.Split(path, ".")), nil
}

func (p *parser) conditions(path string, v bson.RawValue) (condition, error) {
	switch {
	case isOperators(v):
		return p.operators(path, v.Value)
	case v.Type == bson.TypeRegex:
		re, err := regexOf(v)
		return condition{test: re, open: true}, err
	case v.Type == bson.TypeUndefined:
		return condition{}, status.Errorf(status.BadValue, "cannot compare to undefined")
	}
	return condition{test: comparison{equal, v}, open: true}, nil
}

// isOperators reports whether a document holds operators: its first field begins with "$" and it is no DBRef.
func isOperators(v bson.RawValue) bool {
	if v.Type != bson.TypeEmbeddedDocument {
		return false
	}
	name, _ := value.First(v.Value)
	return strings.HasPrefix(name, "$") && name != "$ref" && name != "$id" && name != "$db"
}

// condition is the compiled form of the operators on one field, which apply to a path
// of a document or, inside $elemMatch, to an element: a test, or a conjunction,
// possibly negated.
type condition struct {
	test   test
	open   bool
	parts  []condition
	negate bool
}

func (c condition) node(name string, path []string) node {
	var n node
	if c.test != nil {
		n = &field{name: name, path: path, test: c.test, open: c.open}
	} else {
		parts := make(all, len(c.parts))
		for i, part := range c.parts {
			parts[i] = part.node(name, path)
		}
		if n = parts; len(parts) == 1 {
			n = parts[0]
		}
	}
	if c.negate {
		return not{n}
	}
	return n
}

func (c condition) element() test {
	t := c.test
	if t == nil {
		parts := make(every, len(c.parts))
		for i, part := range c.parts {
			parts[i] = part.element()
		}
		t = parts
	}
	if c.negate {
		return without{t}
	}
	return t
}
