package expr

import (
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func stringOperators(name string) parser {
	switch name {
	case "$concat":
		return variadic(evalConcat)
	case "$toLower", "$toUpper":
		return fixed(1, evalCase)
	case "$strcasecmp":
		return fixed(2, evalCaseCompare)
	case "$strLenCP", "$strLenBytes":
		return fixed(1, evalLength)
	case "$split":
		return fixed(2, evalSplit)
	case "$trim", "$ltrim", "$rtrim":
		return parseTrim
	}
	return nil
}

func evalConcat(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	var b strings.Builder
	for _, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
		if v.Type != bson.TypeString {
			return missing(), status.Errorf(16702, "$concat only supports strings, not %s", TypeName(v))
		}
		b.WriteString(str(v))
	}
	return value.String(b.String()), nil
}

// coerced is the text of a value for the operators that accept more than
// strings: numbers, dates and timestamps too, and null as "".
func coerced(v bson.RawValue) (string, error) {
	if nullish(v) {
		return "", nil
	}
	switch v.Type {
	case bson.TypeBoolean, bson.TypeObjectID:
	default:
		if s, ok := plainText(v); ok {
			return s, nil
		}
	}
	return "", status.Errorf(16007, "can't convert from BSON type %s to String", TypeName(v))
}

// evalCase changes ASCII letters only, as the server does.
func evalCase(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	s, err := coerced(args[0])
	if err != nil {
		return missing(), err
	}
	return value.String(asciiCase(s, name == "$toUpper")), nil
}

func asciiCase(s string, upper bool) string {
	return strings.Map(func(r rune) rune {
		switch {
		case upper && r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case !upper && r >= 'A' && r <= 'Z':
			return r - 'A' + 'a'
		}
		return r
	}, s)
}

func evalCaseCompare(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	a, err := coerced(args[0])
	if err != nil {
		return missing(), err
	}
	b, err := coerced(args[1])
	if err != nil {
		return missing(), err
	}
	return value.Int32(int32(strings.Compare(asciiCase(a, true), asciiCase(b, true)))), nil
}

func evalLength(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	if args[0].Type != bson.TypeString {
		code := int32(34471)
		if name == "$strLenBytes" {
			code = 34473
		}
		return missing(), status.Errorf(code, "%s requires a string argument, found: %s", name, TypeName(args[0]))
	}
	s := str(args[0])
	if name == "$strLenBytes" {
		return value.Int32(int32(len(s))), nil
	}
	return value.Int32(int32(utf8.RuneCountInString(s))), nil
}

func evalSplit(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
	s, sep := args[0], args[1]
	switch {
	case nullish(s) || nullish(sep):
		return value.Null(), nil
	case s.Type != bson.TypeString:
		return missing(), status.Errorf(40085,
			"$split requires an expression that evaluates to a string as a first argument, found: %s", TypeName(s))
	case sep.Type != bson.TypeString:
		return missing(), status.Errorf(40086,
			"$split requires an expression that evaluates to a string as a second argument, found: %s", TypeName(sep))
	case str(sep) == "":
		return missing(), status.Errorf(40087, "$split requires a non-empty separator")
	}
	b := value.NewBuilder(64)
	for part := range strings.SplitSeq(str(s), str(sep)) {
		b.Push(value.String(part))
	}
	return arrayValue(b), nil
}

// whitespace has the characters that $trim removes by default.
const whitespace = "\x00 \t\n\v\f\r\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"

func parseTrim(c *compiler, name string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(50696, "%s only supports an object as an argument, found %s", name, TypeName(arg))
	}
	args, err := c.named(arg, []string{"input", "chars"}, func(f string) error {
		return status.Errorf(50694, "%s found an unknown argument: %s", name, f)
	})
	if err != nil {
		return nil, err
	}
	if args[0] == nil {
		return nil, status.Errorf(50695, "%s requires an 'input' field", name)
	}
	if args[1] == nil {
		args = args[:1]
	}
	return call{name, args, evalTrim}, nil
}

func evalTrim(_ *evaluation, name string, args []bson.RawValue) (bson.RawValue, error) {
	chars := whitespace
	for i, v := range args {
		if nullish(v) {
			return value.Null(), nil
		}
		if v.Type != bson.TypeString {
			what := [...]string{"its input", "'chars'"}[i]
			return missing(), status.Errorf(50699+int32(i), "%s requires %s to be a string, got %s (of type %s) instead.",
				name, what, Text(v), TypeName(v))
		}
	}
	if len(args) == 2 {
		chars = str(args[1])
	}
	s := str(args[0])
	if name != "$rtrim" {
		s = strings.TrimLeft(s, chars)
	}
	if name != "$ltrim" {
		s = strings.TrimRight(s, chars)
	}
	return value.String(s), nil
}
