package main

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// manCmd prints the manual page, from the same descriptions as --help.
type manCmd struct{}

func (manCmd) Run(e *env) error {
	c, exit := newCLI(), 0
	parser, err := newParser(&c, e.stdout, e.stderr, &exit)
	if err != nil {
		return err
	}
	_, err = io.WriteString(e.stdout, manual(parser.Model))
	return err
}

// manual is the page in roff.
func manual(app *kong.Application) string {
	var b strings.Builder
	put := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	put(`.TH SHARDBOARD 1 "" "shardboard %s" "User Commands"`, roff(version))
	put(".SH NAME\nshardboard \\- dashboard for sharded MongoDB")
	put(".SH SYNOPSIS\n.B shardboard\n.I command\n.RI [ flags ]")
	put(".SH DESCRIPTION\n%s", roff(app.Help))
	put(".SH COMMANDS")
	everywhere := app.Flags
	manCommands(put, app.Node, names(everywhere))
	put(".SH OPTIONS\nThese belong to every command.")
	manFlags(put, everywhere)
	put(".SH ENVIRONMENT")
	for _, name := range environment(app.Node) {
		put(".TP\n.B %s\n%s", roff(name.value), roff(name.text))
	}
	put(".TP\n.B SHARDBOARD_TOKEN\nThe token for a server.")
	put(".TP\n.B SHARDBOARD_TOKEN_FILE\nA file that holds the token.")
	put(".TP\n.B NO_COLOR\nSwitches colours and bold type off.")
	put(".SH EXIT STATUS")
	for _, c := range exitCodes() {
		put(".TP\n.B %d\n%s", c.code, roff(c.text))
	}
	return b.String()
}

// manCommands describes the commands below a node. Flags that all of them have are described once.
func manCommands(put func(string, ...any), node *kong.Node, known []string) {
	for _, child := range node.Children {
		if child.Hidden {
			continue
		}
		put(".SS %s", roff("shardboard "+child.FullPath()[len("shardboard "):]+arguments(child)))
		put("%s", roff(child.Help))
		for text := range strings.SplitSeq(child.Detail, "\n\n") {
			if text != "" {
				put(".PP\n%s", roff(text))
			}
		}
		for _, p := range child.Positional {
			if p.Help != "" {
				put(".TP\n.I %s\n%s", roff(p.Name), roff(p.Help))
			}
		}
		own := child.Flags
		if len(child.Children) > 1 {
			own = append(slices.Clone(own), shared(child)...)
		}
		manFlags(put, slices.DeleteFunc(slices.Clone(own), func(f *kong.Flag) bool { return slices.Contains(known, f.Name) }))
		manCommands(put, child, append(slices.Clone(known), names(own)...))
	}
}

// arguments are the positional arguments of a command as its synopsis shows them.
func arguments(node *kong.Node) string {
	out := ""
	for _, p := range node.Positional {
		out += " " + p.Summary()
	}
	return out
}

// shared are the flags that all commands below a node have.
func shared(node *kong.Node) []*kong.Flag {
	var out []*kong.Flag
	for _, f := range node.Children[0].Flags {
		if !slices.ContainsFunc(node.Children, func(other *kong.Node) bool { return !slices.Contains(names(other.Flags), f.Name) }) {
			out = append(out, f)
		}
	}
	return out
}

func names(flags []*kong.Flag) []string {
	var out []string
	for _, f := range flags {
		out = append(out, f.Name)
	}
	return out
}

func manFlags(put func(string, ...any), flags []*kong.Flag) {
	for _, f := range flags {
		if f.Hidden {
			continue
		}
		name := `\-\-` + roff(f.Name)
		if f.Short != 0 {
			name = `\-` + string(f.Short) + ", " + name
		}
		put(".TP\n.B %s", name)
		text := f.Help
		if !f.IsBool() {
			text = "(" + f.FormatPlaceHolder() + ") " + text
		}
		put("%s", roff(text))
	}
}

// environment are the variables that stand for flags, sorted.
func environment(node *kong.Node) []candidate {
	found := map[string]string{}
	var walk func(*kong.Node)
	walk = func(n *kong.Node) {
		for _, f := range n.Flags {
			for _, name := range f.Envs {
				found[name] = "As --" + f.Name + "."
			}
		}
		for _, child := range n.Children {
			walk(child)
		}
	}
	walk(node)
	var out []candidate
	for name, text := range found {
		out = append(out, candidate{name, text})
	}
	slices.SortFunc(out, func(a, b candidate) int { return strings.Compare(a.value, b.value) })
	return out
}

// roff makes text that no character of is an instruction, in ASCII as all readers of manual pages take it.
func roff(text string) string {
	var b strings.Builder
	for i, r := range clean(strings.ReplaceAll(text, "\n", " ")) {
		switch {
		case r == '\\':
			b.WriteString(`\e`)
		case r == '-':
			b.WriteString(`\-`)
		case r == '\'':
			b.WriteString(`\(aq`)
		case r == '.' && i == 0:
			b.WriteString(`\&.`)
		case r > '~':
			fmt.Fprintf(&b, `\[u%04X]`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
