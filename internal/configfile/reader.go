package configfile

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"shardboard/internal/sanitize"
)

// Kind is what a setting of the server is written as.
type Kind struct {
	Type    Type
	Choices []string // of a text; none: any
}

// Type is the form of a value.
type Type string

// The forms of values, by the words in which a mistake names them.
const (
	Text    Type = "a text"
	Number  Type = "a number"
	Switch  Type = "true or false"
	Span    Type = "a time such as 8h or 30m"
	List    Type = "a text or a list of texts"
	Mapping Type = "keys and texts"
)

// shownOfText bounds, in bytes, what a message quotes of a file.
const shownOfText = 60

type reader struct{ f *File }

func (r reader) bad(n *yaml.Node, format string, args ...any) { r.f.Add(n.Line, format, args...) }

// pairs are the keys and values of a mapping, each key once. Unknown keys are named with the nearest one.
func (r reader) pairs(n *yaml.Node, what string, known []string, take func(key, value *yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.bad(n, "%s: write keys and values, not %s", what, formOf(n))
		return
	}
	seen := map[string]int{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		name := sanitize.Truncate(key.Value, shownOfText)
		switch first, twice := seen[key.Value]; {
		case key.Kind != yaml.ScalarNode || key.Tag == "!!merge":
			r.bad(key, "%s: a key is a text", what)
			continue
		case twice:
			r.bad(key, "%s is there twice, first on line %d: remove one", name, first)
			continue
		case known != nil && !slices.Contains(known, key.Value):
			r.bad(key, "there is no key %s%s", name, nearest(key.Value, known))
			continue
		}
		seen[key.Value] = key.Line
		take(key, value)
	}
}

// nearest says which key was probably meant: the one that the fewest changed letters make of it.
func nearest(name string, known []string) string {
	best, least := "", len(name)/2+1
	for _, k := range known {
		if d := distance(name, k); d < least {
			best, least = k, d
		}
	}
	if best != "" {
		return ": write " + best
	}
	list := slices.Clone(known)
	slices.Sort(list)
	return ": known are " + strings.Join(list, ", ")
}

// distance is how many letters have to be added, removed or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replace := diagonal
			if a[i] != b[j] {
				replace++
			}
			diagonal = row[j+1]
			row[j+1] = min(replace, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// file reads the whole file.
func (r reader) file(n *yaml.Node, known map[string]Kind) {
	names := []string{"clusters"}
	for name := range known {
		names = append(names, name)
	}
	slices.Sort(names)
	r.pairs(n, "the file", names, func(key, value *yaml.Node) {
		if key.Value == "clusters" {
			r.clusters(value)
			return
		}
		if values, ok := r.values(key, value, known[key.Value]); ok {
			r.f.Settings = append(r.f.Settings, Setting{Key: key.Value, Line: key.Line, Values: values})
		}
	})
}

// values reads a setting in its form.
func (r reader) values(key, n *yaml.Node, k Kind) (out []string, ok bool) {
	wrong := func() ([]string, bool) {
		r.bad(n, "%s: write %s, not %s", key.Value, k.Type, formOf(n))
		return nil, false
	}
	switch {
	case k.Type == Mapping && n.Kind == yaml.MappingNode:
		ok = true
		r.pairs(n, key.Value, nil, func(name, value *yaml.Node) {
			if value.Kind != yaml.ScalarNode || value.Value == "" {
				r.bad(value, "%s.%s: write a text, not %s", key.Value, name.Value, formOf(value))
				ok = false
				return
			}
			out = append(out, name.Value+"="+value.Value)
		})
		return out, ok
	case k.Type == List && n.Kind == yaml.SequenceNode:
		for _, item := range n.Content {
			if item.Kind != yaml.ScalarNode || item.Tag == "!!null" {
				r.bad(item, "%s: an item is a text, not %s", key.Value, formOf(item))
				return nil, false
			}
			out = append(out, item.Value)
		}
		return out, true
	case n.Kind != yaml.ScalarNode || n.Tag == "!!null":
		return wrong()
	}
	text := n.Value
	switch k.Type {
	case Mapping:
		return wrong()
	case Number:
		if _, err := strconv.Atoi(text); err != nil {
			return wrong()
		}
	case Switch:
		if text != "true" && text != "false" {
			return wrong()
		}
	case Span:
		if _, err := time.ParseDuration(text); err != nil {
			return wrong()
		}
	}
	if len(k.Choices) > 0 && !slices.Contains(k.Choices, text) {
		r.bad(n, "%s: write one of %s, not %s", key.Value, strings.Join(k.Choices, ", "), formOf(n))
		return nil, false
	}
	return []string{text}, true
}

func formOf(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "keys and values"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias (*" + sanitize.Truncate(n.Value, shownOfText) + "): repeat the value"
	case n.Tag == "!!null":
		return "nothing"
	}
	return strconv.Quote(sanitize.Truncate(n.Value, shownOfText))
}
