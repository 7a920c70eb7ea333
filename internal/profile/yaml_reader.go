package profile

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// shownOfText bounds, in bytes, what a message quotes of a file.
const shownOfText = 40

// reader walks the nodes of a file and keeps the first error. It uses nodes and not struct tags,
// because an error must name line and field, and because duplicate keys and text that YAML converts
// to something else (true, 1.0, null) are errors.
type reader struct {
	file string
	err  error
}

// bad records an error at a node.
func (r *reader) bad(n *yaml.Node, field, format string, args ...any) {
	if r.err == nil {
		where := field
		if where != "" {
			where += ": "
		}
		r.err = fault.New(fault.Invalid, "%s:%d: %s%s", r.file, n.Line, where, fmt.Sprintf(format, args...))
	}
}

// table is a mapping node with its keys; unknown keys are errors.
type table struct {
	r     *reader
	node  *yaml.Node
	path  string
	value map[string]*yaml.Node
}

func (r *reader) table(n *yaml.Node, path string, known ...string) table {
	t := table{r: r, node: n, path: path, value: map[string]*yaml.Node{}}
	if n.Kind != yaml.MappingNode {
		r.bad(n, path, "expected fields (%s), found %s.", strings.Join(known, ", "), kindOf(n))
		return t
	}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		switch _, twice := t.value[key.Value]; {
		case key.Kind != yaml.ScalarNode || !slices.Contains(known, key.Value):
			r.bad(key, path, "there is no field %q; known are %s.", sanitize.Truncate(key.Value, shownOfText), strings.Join(known, ", "))
		case twice:
			r.bad(key, path, "the field %s is there twice.", key.Value)
		}
		t.value[key.Value] = n.Content[i+1]
	}
	return t
}

func (t table) at(name string) string {
	if t.path == "" {
		return name
	}
	return t.path + "." + name
}

// sub is the mapping of a required field.
func (t table) sub(name string, known ...string) table {
	n, ok := t.value[name]
	if !ok {
		t.r.bad(t.node, t.path, "the field %s is missing.", name)
		return table{r: t.r, node: t.node, path: t.at(name)}
	}
	return t.r.table(n, t.at(name), known...)
}

// text is a string field; "" when it is absent and not required.
func (t table) text(name string, required bool) string {
	n, ok := t.value[name]
	switch {
	case !ok && required:
		t.r.bad(t.node, t.path, "the field %s is missing.", name)
		return ""
	case !ok:
		return ""
	case n.Kind != yaml.ScalarNode || n.Tag != "!!str":
		t.r.bad(n, t.at(name), "expected text, found %s. Put it in quotes if it is meant.", kindOf(n))
		return ""
	}
	s := n.Value
	if problem := checkText(s); problem != "" {
		t.r.bad(n, t.at(name), "%s.", problem)
	}
	return s
}

// checkText says what is wrong with a text; "" = nothing.
func checkText(s string) string {
	switch {
	case strings.TrimSpace(s) == "":
		return "the text is empty"
	case len(s) > 200:
		return "the text has more than 200 bytes: shorten it, or name another field"
	case !utf8.ValidString(s) || strings.ContainsFunc(s, func(c rune) bool { return unicode.IsControl(c) || unicode.Is(unicode.Cf, c) }):
		return "the text has control characters"
	}
	return ""
}

// secrets are words that the name of a field must not contain: a value that is never read cannot be
// leaked.
var secrets = []string{
	"secret",
	"password",
	"passwd",
	"passphrase",
	"token",
	"credential",
	"webhook",
	"private",
	"apikey",
	"api_key",
	"hash",
}

// field is the dotted path of a field of stored rows.
func (t table) field(name string, required bool) string {
	s := t.text(name, required)
	if s == "" || t.r.err != nil {
		return s
	}
	if problem := CheckField(s); problem != "" {
		t.r.bad(t.value[name], t.at(name), "%s.", problem)
	}
	return s
}

// CheckField says why a profile cannot name a field of stored rows by its dotted path; "" = it can.
func CheckField(s string) string {
	if problem := checkText(s); problem != "" {
		return problem
	}
	lower := strings.ToLower(s)
	for _, word := range secrets {
		if strings.Contains(lower, word) {
			return fmt.Sprintf("%q looks like a secret (%s): shardboard does not read such fields", s, word)
		}
	}
	if s == "_id" {
		return "_id is always read and need not be named"
	}
	for part := range strings.SplitSeq(s, ".") {
		switch {
		case part == "":
			return fmt.Sprintf("%q has an empty part: write one dot between the names of a field and of the field inside it, as in tenant.id", s)
		case part[0] == '$':
			return "the name of a field cannot begin with a dollar sign"
		case strings.Trim(part, "0123456789") == "":
			return fmt.Sprintf("%q has the number %s as a part, which is a place in a list; ids and shard keys cannot be in lists: "+
				"name a field outside of it", s, part)
		}
	}
	return ""
}

// collection is the name of a collection.
func (t table) collection(name string) string {
	s := t.text(name, true)
	if s == "" || t.r.err != nil {
		return s
	}
	if problem := CheckCollection(s); problem != "" {
		t.r.bad(t.value[name], t.at(name), "%s.", problem)
	}
	return s
}

// CheckCollection says why a profile cannot name a collection; "" = it can.
func CheckCollection(s string) string {
	if problem := checkText(s); problem != "" {
		return problem
	}
	if strings.HasPrefix(s, "system.") || strings.ContainsAny(s, "$\x00") || strings.HasPrefix(s, ".") {
		return fmt.Sprintf("%q cannot be the name of a collection", s)
	}
	return ""
}

func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "fields"
	case yaml.SequenceNode:
		return "a list"
	case yaml.AliasNode:
		return "an alias"
	}
	switch n.Tag {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	}
	return "something else"
}
