package query

import (
	"regexp"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
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

// truth is the boolean value of an operand such as that of $exists.
func truth(v bson.RawValue) bool { return expr.Truthy(v) }

func regexOperator(name string, doc bson.Raw) (condition, error) {
	source, options := value.Field(doc, "$regex"), value.Field(doc, "$options")
	if source.Type == 0 {
		return condition{}, status.Errorf(status.BadValue, "$options needs a $regex")
	}
	if name == "$options" { // read together with $regex
		return condition{}, nil
	}
	var text, flags string
	switch source.Type {
	case bson.TypeString:
		text = source.StringValue()
	case bson.TypeRegex:
		text, flags = source.Regex()
	default:
		return condition{}, status.Errorf(status.BadValue, "$regex has to be a string")
	}
	if options.Type != 0 {
		if options.Type != bson.TypeString {
			return condition{}, status.Errorf(status.BadValue, "$options has to be a string")
		}
		if flags != "" {
			return condition{}, status.Errorf(51075, "options set in both $regex and $options")
		}
		flags = options.StringValue()
	}
	re, err := newPattern(text, flags)
	return condition{test: re, open: true}, err
}

func sizeOperator(v bson.RawValue) (test, error) {
	if !value.IsNumber(v) {
		return nil, status.Errorf(status.BadValue, "Failed to parse $size. Expected a number in: $size: %s", value.Text(v))
	}
	n, exact := value.Long(v)
	switch {
	case !exact:
		return nil, status.Errorf(status.BadValue, "Failed to parse $size. Expected an integer: $size: %s", value.Text(v))
	case n < 0:
		return nil, status.Errorf(status.BadValue, "Failed to parse $size. Expected a non-negative number in: $size: %s", value.Text(v))
	}
	return size(n), nil
}

func types(v bson.RawValue) (test, error) {
	t := typed{types: map[bson.Type]bool{}}
	add := func(v bson.RawValue) error {
		if v.Type == bson.TypeString {
			name := v.StringValue()
			code, ok := value.TypeNamed(name)
			switch {
			case name == "number":
				t.numbers = true
			case !ok:
				return status.Errorf(status.BadValue, "Unknown type name alias: %s", name)
			default:
				t.types[code] = true
			}
			return nil
		}
		if !value.IsNumber(v) {
			return status.Errorf(status.TypeMismatch, "type must be represented as a number or a string")
		}
		n, exact := value.Long(v)
		if !exact || n == 0 || n < -1 || n > 19 && n != 127 {
			return status.Errorf(status.BadValue, "Invalid numerical type code: %s", value.Text(v))
		}
		t.types[bson.Type(byte(n))] = true
		return nil
	}
	if v.Type != bson.TypeArray {
		return t, add(v)
	}
	for item := range value.Items(v) {
		if err := add(item); err != nil {
			return nil, err
		}
	}
	if len(t.types) == 0 && !t.numbers {
		return nil, status.Errorf(status.FailedToParse, "$type must match at least one type")
	}
	return t, nil
}

// pattern is a regular expression condition: strings and symbols that contain a match, and the
// same regular expression itself. Matching is RE2: look-around and back references are refused.
type pattern struct {
	source, flags string
	re            *regexp.Regexp
}

func newPattern(source, flags string) (*pattern, error) {
	if strings.IndexByte(source, 0) >= 0 || strings.IndexByte(flags, 0) >= 0 {
		return nil, status.Errorf(51091, "Regular expression cannot contain an embedded null byte")
	}
	mode := ""
	for _, f := range flags {
		switch f {
		case 'i', 'm', 's':
			mode += string(f)
		case 'u':
		default:
			return nil, status.Errorf(51108, "invalid flag in regex options: %c", f)
		}
	}
	if mode != "" {
		mode = "(?" + mode + ")"
	}
	re, err := regexp.Compile(mode + source)
	if err != nil {
		return nil, status.Errorf(51091, "Regular expression is invalid: %s", strings.TrimPrefix(err.Error(), "error parsing regexp: "))
	}
	return &pattern{source: source, flags: flags, re: re}, nil
}

func (p *pattern) holds(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeString:
		return p.re.MatchString(v.StringValue())
	case bson.TypeSymbol:
		return p.re.MatchString(v.Symbol())
	case bson.TypeRegex:
		source, flags := v.Regex()
		return source == p.source && flags == p.flags
	}
	return false
}

// prefix is the literal text every match begins with, "" if there is none; complete: any string with
// that prefix matches.
func (p *pattern) prefix() string {
	if !strings.HasPrefix(p.source, "^") || strings.ContainsAny(p.flags, "im") || strings.ContainsRune(p.source, '|') {
		return ""
	}
	// LiteralPrefix of an anchored expression is empty: ask for the rest alone.
	rest, err := regexp.Compile(p.source[1:])
	if err != nil {
		return ""
	}
	literal, _ := rest.LiteralPrefix()
	return literal
}

// regexOf reads the pattern of a regex value.
func regexOf(v bson.RawValue) (*pattern, error) {
	source, flags := v.Regex()
	return newPattern(source, flags)
}
