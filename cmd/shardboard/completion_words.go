package main

import (
	"context"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"shardboard/internal/actions"
)

// cursor is what a half-written command line is about to say.
type cursor struct {
	node    *kong.Node        // the command so far
	places  []string          // its positional arguments so far
	flag    *kong.Flag        // whose value the last word is; nil if it is none
	given   map[string]string // values of flags so far
	last    string            // the word at the cursor, or the begin of the flag's value
	prefix  string            // what stands before the value in the same word
	ended   bool              // "--" was written: no more flags
	unknown bool              // there is a word that no command has
}

// complete prints the words that can stand at the cursor, the last of the words given.
func complete(ctx context.Context, app *kong.Application, words []string,
	names func(ctx context.Context, c cursor, kind string) []candidate) []candidate {
	c := readWords(app.Node, words)
	var all []candidate
	switch {
	case c.unknown:
		return nil
	case c.flag != nil:
		all = values(ctx, c, c.flag.Value, names)
	case strings.HasPrefix(c.last, "-") && !c.ended:
		all = flags(c)
	default:
		for _, child := range c.node.Children {
			if !child.Hidden {
				all = append(all, candidate{child.Name, child.Help})
			}
		}
		if n := len(c.places); n < len(c.node.Positional) {
			all = append(all, values(ctx, c, c.node.Positional[n], names)...)
		}
	}
	var out []candidate
	for _, one := range all {
		if strings.HasPrefix(one.value, c.last) {
			out = append(out, candidate{c.prefix + one.value, one.text})
		}
	}
	return out
}

// readWords follows the words through the commands. bash gives "--flag=value" as three words.
func readWords(root *kong.Node, words []string) cursor {
	joined := false
	for i := 1; i < len(words); i++ {
		if words[i] != "=" || !strings.HasPrefix(words[i-1], "--") {
			continue
		}
		after := ""
		if i+1 < len(words) {
			after = words[i+1]
		}
		joined = i+2 >= len(words)
		words = slices.Concat(words[:i-1], []string{words[i-1] + "=" + after}, words[min(i+2, len(words)):])
		i--
	}
	c := cursor{node: root, given: map[string]string{}}
	for i, word := range words {
		last := i == len(words)-1
		switch {
		case c.flag != nil:
			if last {
				c.last = word
				return c
			}
			c.given[c.flag.Name], c.flag = word, nil
		case word == "--" && !last:
			c.ended = true
		case strings.HasPrefix(word, "-") && !c.ended:
			name, value, assigned := strings.Cut(word, "=")
			flag := flagNamed(c.node, name)
			if last {
				c.last = word
				if assigned && flag != nil {
					c.flag, c.last, c.prefix = flag, value, name+"="
				}
				if joined {
					c.prefix = ""
				}
				return c
			}
			switch {
			case flag == nil || flag.IsBool():
			case assigned:
				c.given[flag.Name] = value
			default:
				c.flag = flag
			}
		case last:
			c.last = word
		default:
			c.follow(word)
		}
	}
	return c
}

// follow takes a word for a command below, or for a positional argument.
func (c *cursor) follow(word string) {
	i := slices.IndexFunc(c.node.Children, func(n *kong.Node) bool { return n.Name == word || slices.Contains(n.Aliases, word) })
	switch {
	case i >= 0:
		c.node = c.node.Children[i]
	case len(c.node.Children) > 0:
		c.unknown = true
	default:
		c.places = append(c.places, word)
	}
}

// flagNamed finds a flag as it is written: --name or -n.
func flagNamed(node *kong.Node, written string) *kong.Flag {
	for ; node != nil; node = node.Parent {
		for _, f := range node.Flags {
			if written == "--"+f.Name || f.Short != 0 && written == "-"+string(f.Short) {
				return f
			}
		}
	}
	return nil
}

func flags(c cursor) []candidate {
	var out []candidate
	for node := c.node; node != nil; node = node.Parent {
		for _, f := range node.Flags {
			if _, twice := c.given[f.Name]; !twice && !f.Hidden {
				out = append(out, candidate{"--" + f.Name, f.Help})
			}
		}
	}
	return out
}

// values are what a flag or an argument can be.
func values(ctx context.Context, c cursor, v *kong.Value, names func(context.Context, cursor, string) []candidate) []candidate {
	var out []candidate
	if v.Enum != "" {
		for _, value := range v.EnumSlice() {
			if value != strings.ToUpper(value) || !slices.Contains(v.EnumSlice(), strings.ToLower(value)) { // DEBUG is debug
				out = append(out, candidate{value, ""})
			}
		}
		return out
	}
	command := c.node.Path()
	switch {
	case strings.HasPrefix(command, "plan") && v.Flag == nil && v.Name == "kind":
		for _, d := range actions.Descriptions() {
			out = append(out, candidate{string(d.Kind), d.Title})
		}
		return out
	case strings.HasPrefix(command, "plan") && v.Flag != nil:
		if x, ok := actions.ArgumentNamed(v.Name); ok && len(x.Choices) > 0 {
			for _, choice := range x.Choices {
				out = append(out, candidate{choice.Value, choice.Text})
			}
			return out
		}
	}
	if kind := nameKind(command, v); kind != "" {
		return names(ctx, c, kind)
	}
	return nil
}

// nameKind is what a flag or an argument names: shards, collections, zones, projects, clusters or runs; "" if
// nothing that a server can list.
func nameKind(command string, v *kong.Value) string {
	switch v.Name {
	case "shard", "to":
		if v.Name == "to" && !strings.HasPrefix(command, "plan") {
			return ""
		}
		return "shards"
	case "ns":
		return "collections"
	case "zone":
		return "zones"
	case "project":
		return "projects"
	case "cluster":
		return "clusters"
	case "name":
		if strings.HasPrefix(command, "get shard") {
			return "shards"
		}
	case "id":
		switch {
		case strings.HasPrefix(command, "get project"):
			return "projects"
		case strings.HasPrefix(command, "get run"), strings.HasPrefix(command, "runs"):
			return "runs"
		}
	}
	return ""
}
