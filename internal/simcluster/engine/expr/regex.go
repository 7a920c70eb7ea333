package expr

import (
	"regexp"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func regexOperators(name string) parser {
	switch name {
	case "$regexMatch", "$regexFind", "$regexFindAll":
		return parseRegex
	}
	return nil
}

// regexNode matches with Go's engine, which has no back references and no
// look-around; such patterns are refused as invalid.
type regexNode struct {
	name                  string
	input, regex, options node
	compiled              *regexp.Regexp // when pattern and options are constant
}

func parseRegex(c *compiler, name string, arg bson.RawValue) (node, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(51103, "%s expects an object of named arguments but found: %s", name, TypeName(arg))
	}
	args, err := c.named(arg, []string{"input", "regex", "options"}, func(f string) error {
		return status.Errorf(31024, "%s found an unknown argument: %s", name, f)
	})
	switch {
	case err != nil:
		return nil, err
	case args[0] == nil:
		return nil, status.Errorf(31022, "%s requires 'input' parameter", name)
	case args[1] == nil:
		return nil, status.Errorf(31023, "%s requires 'regex' parameter", name)
	}
	n := regexNode{name: name, input: args[0], regex: args[1], options: args[2]}
	pattern, fixedPattern := n.regex.(constant)
	options, fixedOptions := n.options.(constant)
	if fixedPattern && (n.options == nil || fixedOptions) {
		n.compiled, err = n.compile(pattern.v, options.v)
	}
	return n, err
}

// compile gives nil for a null pattern, which matches nothing.
func (n regexNode) compile(regex, options bson.RawValue) (*regexp.Regexp, error) {
	var pattern, flags string
	switch {
	case nullish(regex):
		return nil, nil
	case regex.Type == bson.TypeRegex:
		pattern, flags = regex.Regex()
	case regex.Type == bson.TypeString:
		pattern = str(regex)
	default:
		return nil, status.Errorf(51105, "%s needs 'regex' to be of type string or regex", n.name)
	}
	if !nullish(options) {
		if options.Type != bson.TypeString {
			return nil, status.Errorf(51106, "%s needs 'options' to be of type string", n.name)
		}
		if flags != "" {
			return nil, status.Errorf(51107, "%s found regex option(s) specified in both 'regex' and 'option' fields", n.name)
		}
		flags = str(options)
	}
	re, err := CompileRegex(pattern, flags)
	if err != nil {
		return nil, status.Errorf(51111, "Invalid Regex in %s: %s", n.name, err)
	}
	return re, nil
}

// CompileRegex compiles a pattern with MongoDB's options i, m, s and x.
func CompileRegex(pattern, options string) (*regexp.Regexp, error) {
	flags := ""
	for _, o := range options {
		switch o {
		case 'i', 'm', 's':
			flags += string(o)
		case 'x':
			pattern = stripExtended(pattern)
		}
	}
	if flags != "" {
		pattern = "(?" + flags + ")" + pattern
	}
	return regexp.Compile(pattern)
}

// stripExtended removes what the x option ignores: white space outside of
// classes and comments up to the end of the line.
func stripExtended(p string) string {
	var b strings.Builder
	class := false
	for i := 0; i < len(p); i++ {
		switch ch := p[i]; {
		case ch == '\\' && i+1 < len(p):
			b.WriteString(p[i : i+2])
			i++
			continue
		case ch == '[':
			class = true
		case ch == ']':
			class = false
		case !class && strings.IndexByte(" \t\n\v\f\r", ch) >= 0:
			continue
		case !class && ch == '#':
			for i+1 < len(p) && p[i+1] != '\n' {
				i++
			}
			continue
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

func (n regexNode) eval(c *evaluation) (bson.RawValue, error) {
	in, err := n.input.eval(c)
	if err != nil {
		return in, err
	}
	if !nullish(in) && in.Type != bson.TypeString {
		return missing(), status.Errorf(51104, "%s needs 'input' to be of type string", n.name)
	}
	re := n.compiled
	if re == nil {
		pattern, err := n.regex.eval(c)
		if err != nil {
			return pattern, err
		}
		options, _, err := c.optional(n.options)
		if err != nil {
			return options, err
		}
		if re, err = n.compile(pattern, options); err != nil {
			return missing(), err
		}
	}
	found := re != nil && !nullish(in)
	s := ""
	if found {
		s = str(in)
	}
	switch n.name {
	case "$regexMatch":
		return value.Bool(found && re.MatchString(s)), nil
	case "$regexFind":
		if found {
			if at := re.FindStringSubmatchIndex(s); at != nil {
				return regexResult(s, at), nil
			}
		}
		return value.Null(), nil
	}
	b := value.NewBuilder(16)
	if found {
		for _, at := range re.FindAllStringSubmatchIndex(s, -1) {
			b.Push(regexResult(s, at))
		}
	}
	return arrayValue(b), nil
}

func regexResult(s string, at []int) bson.RawValue {
	captures := value.NewBuilder(16)
	for i := 2; i < len(at); i += 2 {
		if at[i] < 0 {
			captures.Push(value.Null())
		} else {
			captures.Push(value.String(s[at[i]:at[i+1]]))
		}
	}
	return value.Doc(value.NewBuilder(64).
		Append("match", value.String(s[at[0]:at[1]])).
		Append("idx", value.Int32(int32(utf8.RuneCountInString(s[:at[0]])))).
		Append("captures", arrayValue(captures)).Raw())
}
