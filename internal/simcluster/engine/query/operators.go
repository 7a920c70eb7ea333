package query

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// operators compiles {$gt: 1, $lt: 5}.
func (p *parser) operators(path string, doc bson.Raw) (condition, error) {
	var parts []condition
	for name, v := range value.Elements(doc) {
		c, err := p.operator(path, name, v, doc)
		if err != nil {
			return condition{}, err
		}
		if c.test != nil || c.parts != nil {
			parts = append(parts, c)
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	if parts == nil {
		parts = []condition{}
	}
	return condition{parts: parts}, nil
}

func (p *parser) operator(path, name string, v bson.RawValue, doc bson.Raw) (condition, error) {
	switch name {
	case "$eq":
		return compare(path, equal, v)
	case "$lt":
		return compare(path, less, v)
	case "$lte":
		return compare(path, lessOrEqual, v)
	case "$gt":
		return compare(path, greater, v)
	case "$gte":
		return compare(path, greaterOrEqual, v)
	case "$ne":
		if v.Type == bson.TypeRegex {
			return condition{}, status.Errorf(status.BadValue, "Can't have regex as arg to $ne.")
		}
		c, err := compare(path, equal, v)
		c.negate = true
		return c, err
	case "$in", "$nin":
		t, err := membership(name, v)
		return condition{test: t, open: true, negate: name == "$nin"}, err
	case "$exists":
		return condition{test: exists{}, open: true, negate: !truth(v)}, nil
	case "$type":
		t, err := types(v)
		return condition{test: t, open: true}, err
	case "$not":
		return p.negation(path, v)
	case "$regex", "$options":
		return regexOperator(name, doc)
	case "$size":
		t, err := sizeOperator(v)
		return condition{test: t}, err
	case "$elemMatch":
		t, err := p.elemMatch(path, v)
		return condition{test: t}, err
	case "$comment":
		return condition{}, nil
	case "$expr":
		return condition{}, status.Errorf(status.BadValue, "unknown operator: $expr")
	}
	return condition{}, status.Errorf(status.BadValue, "unknown operator: %s", name)
}

func compare(path string, op operator, v bson.RawValue) (condition, error) {
	switch {
	case v.Type == bson.TypeUndefined:
		return condition{}, status.Errorf(status.BadValue, "cannot compare to undefined")
	case v.Type == bson.TypeRegex && op != equal:
		return condition{}, status.Errorf(status.BadValue, "Can't have RegEx as arg to predicate over field '%s'.", path)
	}
	return condition{test: comparison{op, v}, open: true}, nil
}

func membership(name string, v bson.RawValue) (test, error) {
	if v.Type != bson.TypeArray {
		return nil, status.Errorf(status.BadValue, "%s needs an array", name)
	}
	set := &oneOf{}
	for item := range value.Items(v) {
		switch {
		case isOperators(item):
			return nil, status.Errorf(status.BadValue, "cannot nest $ under %s", name)
		case item.Type == bson.TypeUndefined:
			return nil, status.Errorf(status.BadValue, "InMatchExpression equality cannot be undefined")
		case item.Type == bson.TypeRegex:
			re, err := regexOf(item)
			if err != nil {
				return nil, err
			}
			set.regexes = append(set.regexes, re)
			continue
		case item.Type == bson.TypeNull:
			set.null = true
		}
		set.values = append(set.values, item)
	}
	slices.SortStableFunc(set.values, value.Compare)
	set.values = slices.CompactFunc(set.values, value.Equal)
	return set, nil
}

func (p *parser) negation(path string, v bson.RawValue) (condition, error) {
	var c condition
	var err error
	switch {
	case v.Type == bson.TypeRegex:
		var re *pattern
		re, err = regexOf(v)
		c = condition{test: re, open: true}
	case v.Type != bson.TypeEmbeddedDocument:
		return c, status.Errorf(status.BadValue, "$not needs a regex or a document")
	case value.Len(v.Value) == 0:
		return c, status.Errorf(status.BadValue, "$not cannot be empty")
	default:
		c, err = p.operators(path, v.Value)
	}
	if c.negate { // {$not: {$ne: 1}}: a negation of its own around it
		c = condition{parts: []condition{c}}
	}
	c.negate = true
	return c, err
}
