package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/app"
	"shardboard/internal/fault"
)

// askable reports whether somebody can be asked: both ends are terminals.
func (e *env) askable() bool {
	return e.out.tty && term.IsTerminal(int(os.Stdin.Fd()))
}

// missing are the names of what a plan needs and the command line does not have, as --help writes them.
func (c planCmd) missing(given map[string]string) []string {
	if c.Kind == "" {
		return []string{"<kind>"}
	}
	var out []string
	for _, x := range actions.Describe(actions.Kind(c.Kind)).Arguments {
		if x.Required && !has(given, x) {
			out = append(out, "--"+x.Name)
		}
	}
	if c.Reason == "" {
		out = append(out, "--reason")
	}
	return out
}

// has tells whether an argument or one of its alternatives is given.
func has(given map[string]string, x actions.Argument) bool {
	return slices.ContainsFunc(append([]string{x.Name}, x.Or...), func(name string) bool { return given[name] != "" })
}

// asking fills in a plan at a terminal.
type asking struct {
	prompt prompt
	remote app.Remote
	given  map[string]string // arguments by name
}

// fill asks for what is missing. Somebody who gave no argument at all is asked for the optional ones too.
func (a asking) fill(c *planCmd) error {
	all := len(a.given) == 0
	if _, err := a.list("/shards"); err != nil { // a server that does not answer ends it before the first question
		return err
	}
	if c.Kind == "" {
		var kinds []candidate
		for _, d := range actions.Descriptions() {
			kinds = append(kinds, candidate{string(d.Kind), d.Title})
		}
		kind, err := a.prompt.answer(wanted{label: "Kind of change", choices: kinds, only: true})
		if err != nil {
			return err
		}
		c.Kind = kind
	}
	description := actions.Describe(actions.Kind(c.Kind))
	line(a.prompt.out, "%s", description.Lead)
	for _, x := range description.Arguments {
		if x.Unasked || has(a.given, x) || !x.Required && !all {
			continue
		}
		value, err := a.argument(x)
		if err != nil {
			return err
		}
		if value != "" {
			a.given[x.Name] = value
		}
	}
	if c.Reason == "" {
		reason, err := a.prompt.answer(wanted{label: "Reason", help: "Kept in the audit record."})
		if err != nil {
			return err
		}
		c.Reason = reason
	}
	return nil
}

// argument asks for one argument by its description.
func (a asking) argument(x actions.Argument) (string, error) {
	q := wanted{label: x.Label, help: x.Help, check: x.CheckText}
	for _, c := range x.Choices {
		q.choices = append(q.choices, candidate{c.Value, c.Text})
	}
	switch x.Type {
	case actions.TypeSwitch:
		q.choices = []candidate{{"true", "yes"}, {"false", "no"}}
		q.only = true
	case actions.TypeChoice, actions.TypeBool:
		q.only = true
	default:
		names, err := a.choices(x)
		if err != nil {
			return "", err
		}
		q.choices = append(q.choices, names...)
		// Names of chunks and projects can be written in several ways; the server knows all.
		q.only = len(names) > 0 && (x.Type == actions.TypeShard || x.Type == actions.TypeCollection)
	}
	if !x.Required {
		q.omit = "leave it out"
		if x.Empty != "" {
			q.omit = x.Empty
		}
		if x.Default != "" {
			q.omit = x.Default
		}
	}
	return a.prompt.answer(q)
}

// choices are the names on the server that an argument can have; none if it names nothing there.
func (a asking) choices(x actions.Argument) ([]candidate, error) {
	switch x.Type {
	case actions.TypeShard:
		return a.list("/shards")
	case actions.TypeCollection, actions.TypeNamespace:
		return a.collections(x.Type == actions.TypeCollection)
	case actions.TypeZone:
		return a.list("/zones")
	case actions.TypeProject:
		return a.list("/projects")
	case actions.TypeChunk, actions.TypeChunks:
		return a.chunks(func(c api.Chunk) candidate {
			return candidate{c.Ref, fmt.Sprintf("[%s, %s) on %s", c.Min, c.Max, c.Shard)}
		})
	case actions.TypeKey:
		return a.bounds(x.Name)
	}
	return nil, nil
}

// bounds are those of the first chunks of the collection that was chosen before. Another key can be typed, and
// has to be for a split.
func (a asking) bounds(name string) ([]candidate, error) {
	switch name {
	case "min":
		return a.chunks(func(c api.Chunk) candidate { return candidate{string(c.Min), "begin of a chunk on " + c.Shard} })
	case "max":
		return a.chunks(func(c api.Chunk) candidate { return candidate{string(c.Max), "end of a chunk on " + c.Shard} })
	}
	return nil, nil
}

func (a asking) list(path string) ([]candidate, error) {
	text, _, err := a.remote.Read(a.prompt.ctx, api.Prefix+path+"?limit=1000", "")
	if err != nil {
		return nil, err
	}
	return namesIn(text), nil
}

// collections are the namespaces; sharded leaves out the others.
func (a asking) collections(sharded bool) ([]candidate, error) {
	var list api.List[api.Collection]
	if err := a.remote.Get(a.prompt.ctx, api.Prefix+"/collections?limit=1000", &list); err != nil {
		return nil, err
	}
	var out []candidate
	for _, x := range list.Items {
		if x.Sharded || !sharded {
			out = append(out, candidate{x.NS, ""})
		}
	}
	return out, nil
}

// chunks are the first chunks of the collection that was chosen before.
func (a asking) chunks(choice func(api.Chunk) candidate) ([]candidate, error) {
	ns := a.given["ns"]
	if ns == "" {
		return nil, nil
	}
	var list api.List[api.Chunk]
	path := fmt.Sprintf("%s/collections/%s/chunks?limit=%d", api.Prefix, answer.PathPart(ns), promptChoices)
	if err := a.remote.Get(a.prompt.ctx, path, &list); err != nil {
		return nil, err
	}
	var out []candidate
	for _, x := range list.Items {
		if x.Ref != "" { // hidden, as the bounds are then
			out = append(out, choice(x))
		}
	}
	return out, nil
}

// commandLine is the command that asks for nothing, for a shell.
func commandLine(c planCmd, given map[string]string) string {
	words := []string{"shardboard", "plan", c.Kind}
	for _, x := range actions.Arguments() {
		switch value := given[x.Name]; {
		case value == "":
		case x.Type == actions.TypeSwitch:
			words = append(words, "--"+x.Name)
		default:
			words = append(words, "--"+x.Name, shellQuoted(value))
		}
	}
	return strings.Join(append(words, "--reason", shellQuoted(c.Reason)), " ")
}

// shellQuoted is a text as one word of a shell.
func shellQuoted(text string) string {
	if text != "" && strings.Trim(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.:/@") == "" {
		return text
	}
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}

// pairs are the arguments as name=value, by the order of the API.
func pairs(given map[string]string) []string {
	var out []string
	for _, x := range actions.Arguments() {
		if value := given[x.Name]; value != "" && (x.Type != actions.TypeSwitch || value != "false") {
			out = append(out, x.Name+"="+value)
		}
	}
	return out
}

// givenArguments are name=value pairs by name, without a look at whether they are right.
func givenArguments(list []string) map[string]string {
	out := map[string]string{}
	for _, pair := range list {
		name, value, _ := strings.Cut(pair, "=")
		out[name] = value
	}
	return out
}

// allKnown reports whether this program knows every argument.
func allKnown(given map[string]string) bool {
	for name := range given {
		if _, ok := actions.ArgumentNamed(name); !ok {
			return false
		}
	}
	return true
}

// complete asks for what is missing where somebody can be asked, and returns the arguments as name=value.
func (c *planCmd) complete(e *env, remote app.Remote, list []string) ([]string, error) {
	given := givenArguments(list)
	left := c.missing(given)
	if len(left) == 0 || c.Kind != "" && c.Reason != "" && !actions.Known(actions.Kind(c.Kind)) {
		return list, nil
	}
	if !e.askable() || c.Kind != "" && !actions.Known(actions.Kind(c.Kind)) {
		switch {
		case c.Kind == "":
			return nil, fault.New(fault.Invalid, `expected "<kind>": one of %s`, planKinds())
		case c.Reason != "" && !allKnown(given): // the server may be newer, else it says what is wrong
			return list, nil
		case !actions.Known(actions.Kind(c.Kind)):
			return nil, fault.New(fault.Invalid, "There is no change %q. There are: %s.", c.Kind, planKinds())
		}
		return nil, fault.New(fault.Invalid, "missing flags: %s", strings.Join(left, ", "))
	}
	a := asking{prompt: newPrompt(e.ctx, os.Stdin, e.stderr), remote: remote, given: given}
	if err := a.fill(c); err != nil {
		return nil, err
	}
	line(e.stderr, "\nThe same without questions:")
	line(e.stderr, "  %s", commandLine(*c, given))
	fmt.Fprintln(e.stderr)
	return pairs(given), nil
}
