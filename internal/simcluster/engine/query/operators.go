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
func (p *parser) operators(at field, doc bson.Raw) (node, error) {
	var parts all
	for name, v := range value.Elements(doc) {
		n, err := p.operator(at, name, v, doc)
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

// operator compiles one of the operators in doc; nil for one that says nothing by itself.
func (p *parser) operator(at field, name string, v bson.RawValue, doc bson.Raw) (node, error) {
	switch name {
	case "$eq":
		return compare(at, equal, v)
	case "$lt":
		return compare(at, less, v)
	case "$lte":
		return compare(at, lessOrEqual, v)
	case "$gt":
		return compare(at, greater, v)
	case "$gte":
		return compare(at, greaterOrEqual, v)
	case "$ne":
		if v.Type == bson.TypeRegex {
			return nil, status.Errorf(status.BadValue, "Can't have regex as arg to $ne.")
		}
		n, err := compare(at, equal, v)
		return not{n}, err
	case "$in":
		t, err := membership(name, v)
		return at.of(t), err
	case "$nin":
		t, err := membership(name, v)
		return not{at.of(t)}, err
	case "$exists":
		if expr.Truthy(v) {
			return at.of(exists{}), nil
		}
		return not{at.of(exists{})}, nil
	case "$type":
		t, err := types(v)
		return at.of(t), err
	case "$not":
		return p.negation(at, v)
	case "$regex":
		re, err := regexOperator(v, value.Field(doc, "$options"))
		return at.of(re), err
	case "$options": // read together with $regex
		if value.Field(doc, "$regex").Type == 0 {
			return nil, status.Errorf(status.BadValue, "$options needs a $regex")
		}
		return nil, nil
	case "$size":
		t, err := sizeOperator(v)
		at.test = t
		return &at, err
	case "$elemMatch":
		t, err := p.elemMatch(at, v)
		at.test = t
		return &at, err
	case "$comment":
		return nil, nil
	}
	return nil, status.Errorf(status.BadValue, "unknown operator: %s", name)
}

func compare(at field, op operator, v bson.RawValue) (node, error) {
	switch {
	case v.Type == bson.TypeUndefined:
		return nil, status.Errorf(status.BadValue, "cannot compare to undefined")
	case v.Type == bson.TypeRegex && op != equal:
		return nil, status.Errorf(status.BadValue, "Can't have RegEx as arg to predicate over field '%s'.", at.name)
	}
	return at.of(comparison{op, v}), nil
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

func (p *parser) negation(at field, v bson.RawValue) (node, error) {
	switch {
	case v.Type == bson.TypeRegex:
		re, err := regexOf(v)
		return not{at.of(re)}, err
	case v.Type != bson.TypeEmbeddedDocument:
		return nil, status.Errorf(status.BadValue, "$not needs a regex or a document")
	case value.Len(v.Value) == 0:
		return nil, status.Errorf(status.BadValue, "$not cannot be empty")
	}
	n, err := p.operators(at, v.Value)
	return not{n}, err
}

func regexOperator(source, options bson.RawValue) (*pattern, error) {
	var text, flags string
	switch source.Type {
	case bson.TypeString:
		text = source.StringValue()
	case bson.TypeRegex:
		text, flags = source.Regex()
	default:
		return nil, status.Errorf(status.BadValue, "$regex has to be a string")
	}
	switch {
	case options.Type == 0:
		return newPattern(text, flags)
	case options.Type != bson.TypeString:
		return nil, status.Errorf(status.BadValue, "$options has to be a string")
	case flags != "":
		return nil, status.Errorf(51075, "options set in both $regex and $options")
	}
	return newPattern(text, options.StringValue())
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
