package rules

import (
	"slices"
	"strings"

	"shardboard/internal/message"
	"shardboard/internal/natural"
)

// A rule can find the same thing about many objects. From some number on they are one problem, with
// all of them as its parts.
const (
	fewAlone  = 5     // problems of one rule and severity that are listed one by one
	alwaysOne = 1     // rule.alone of a rule whose problems have the same remedy
	neverOne  = 1_000 // rule.alone of a rule whose problems have to be told apart
	maxParts  = 1_000 // parts that are kept
	namedMany = 3     // objects that the text names
)

// gathered makes one problem of many; alone is how many are listed one by one, 0 for fewAlone. The problems are
// sorted by severity.
func gathered(r rule, problems []Problem) (out []Problem) {
	alone := r.alone
	if alone == 0 {
		alone = fewAlone
	}
	for len(problems) > 0 {
		n := 1
		for n < len(problems) && problems[n].Severity == problems[0].Severity {
			n++
		}
		if n <= alone {
			out = append(out, problems[:n]...)
		} else {
			out = append(out, manyOf(r, problems[:n:n]))
		}
		problems = problems[n:]
	}
	return out
}

// manyOf is one problem about all objects. It leads to what all of them have in common.
func manyOf(r rule, parts []Problem) Problem {
	first := parts[0]
	p := Problem{
		ID: idOf(r.id, "many "+string(first.Severity)), Rule: r.id, Subject: "many", Severity: first.Severity, Weight: first.Weight,
		Why: first.Why, NS: first.NS, Shard: first.Shard, Project: first.Project,
		Count: len(parts), Parts: parts[:min(len(parts), maxParts)],
	}
	var names []string
	sameCommands, plans := true, false
	for _, x := range parts {
		if name := x.named(); !slices.Contains(names, name) && len(names) <= namedMany {
			names = append(names, name)
		}
		if x.NS != p.NS {
			p.NS = ""
		}
		if x.Shard != p.Shard {
			p.Shard = ""
		}
		if x.Project != p.Project {
			p.Project = ""
		}
		sameCommands = sameCommands && slices.EqualFunc(x.Remedy.Commands, first.Remedy.Commands,
			func(a, b Command) bool { return a.Text == b.Text })
		plans = plans || len(x.Remedy.Plans) > 0
	}
	natural.Sort(names)
	p.Text = message.New("many", "{rule}: {n}, among them {names}.", message.Text("rule", r.name), message.Count("n", len(parts)),
		message.Text("names", strings.Join(names[:min(len(names), namedMany)], ", ")))
	if len(names) == 1 {
		p.Text = message.New("many.one", "{rule}: {n}, all of {names}.", message.Text("rule", r.name), message.Count("n", len(parts)),
			message.Text("names", names[0]))
	}
	if p.Remedy.WhyNot = first.Remedy.WhyNot; plans {
		p.Remedy.WhyNot = message.New("many.plans", "Each of them has plans of its own: open all.")
	}
	if sameCommands {
		p.Remedy.Commands = first.Remedy.Commands
	}
	return p
}

// named is the object in words that nobody has to hide: a subject can have a bound.
func (p Problem) named() string {
	if p.NS != "" && !p.Chunk.IsZero() {
		return string(p.NS)
	}
	return p.Subject
}

// Find is the problem with an id, which can be one of many; ok tells whether there is one.
func (r Report) Find(id string) (p Problem, ok bool) {
	for _, x := range r.Items {
		if x.ID == id {
			return x, true
		}
		for _, inside := range [][]Problem{x.Parts, x.Consequences} {
			if i := slices.IndexFunc(inside, func(p Problem) bool { return p.ID == id }); i >= 0 {
				return inside[i], true
			}
		}
	}
	return Problem{}, false
}

// Each are the problems of a rule one by one.
func (r Report) Each(rule Rule) (out []Problem) {
	for _, x := range r.All() {
		switch {
		case x.Rule != rule:
		case len(x.Parts) > 0:
			out = append(out, x.Parts...)
		default:
			out = append(out, x)
		}
	}
	return out
}
