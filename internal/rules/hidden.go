package rules

import (
	"slices"
	"strings"

	"shardboard/internal/message"
)

// HideTexts is the problem without what servers wrote: text makes what stands in
// its place.
func (p Problem) HideTexts(text func(string) string) Problem {
	p.Parts, p.Consequences = slices.Clone(p.Parts), slices.Clone(p.Consequences)
	for i, x := range p.Parts {
		p.Parts[i] = x.HideTexts(text)
	}
	for i, x := range p.Consequences {
		p.Consequences[i] = x.HideTexts(text)
	}
	return p.replace(message.KindServer, text)
}

// HideBounds is the problem without key values: instead stands in their place, and
// name makes another id, because an id is a hash of what the problem is about. The
// plans of its remedy keep their arguments, which are what they are tried with.
func (p Problem) HideBounds(instead string, name func(string) string) Problem {
	p = p.replace(message.KindKey, func(string) string { return instead })
	p.Parts, p.Consequences = slices.Clone(p.Parts), slices.Clone(p.Consequences)
	for i, x := range p.Parts {
		p.Parts[i] = x.HideBounds(instead, name)
	}
	for i, x := range p.Consequences {
		p.Consequences[i] = x.HideBounds(instead, name)
	}
	p.ID = string(p.Rule) + "." + name(p.ID)
	if ns := string(p.NS) + " "; strings.HasPrefix(p.Subject, ns+"{") {
		p.Subject = ns + instead
	}
	p.Remedy.Commands = slices.Clone(p.Remedy.Commands)
	for i, c := range p.Remedy.Commands {
		if strings.Contains(c.Text, parseCall) {
			p.Remedy.Commands[i].Text = "// " + instead
		}
	}
	return p
}

// replace is a copy of the problem with other values of the facts of one kind.
func (p Problem) replace(kind message.Kind, value func(string) string) Problem {
	p.Text, p.Why = replaceFacts(p.Text, kind, value), replaceFacts(p.Why, kind, value)
	p.Evidence = slices.Clone(p.Evidence)
	for i, e := range p.Evidence {
		p.Evidence[i].Name = replaceFacts(e.Name, kind, value)
		if e.Text.Kind == kind {
			p.Evidence[i].Text.Value = value(e.Text.Value)
		}
	}
	return p
}

func replaceFacts(m message.Message, kind message.Kind, value func(string) string) message.Message {
	m.Facts = slices.Clone(m.Facts)
	for i, f := range m.Facts {
		if f.Kind == kind {
			m.Facts[i].Value = value(f.Value)
		}
	}
	return m
}

// parseCall begins a bound in a line for mongosh.
const parseCall = "EJSON.parse("

// HideTexts is what is found without what servers wrote.
func (v View) HideTexts(text func(string) string) View {
	return v.each(func(p Problem) Problem { return p.HideTexts(text) })
}

// HideBounds is what is found without key values.
func (v View) HideBounds(instead string, name func(string) string) View {
	v = v.each(func(p Problem) Problem { return p.HideBounds(instead, name) })
	for i, d := range v.Dismissed {
		v.Dismissed[i].By.ID = hiddenID(d, name)
	}
	v.Taken = slices.Clone(v.Taken)
	for i, t := range v.Taken {
		rule, _, _ := strings.Cut(t.ID, ".")
		v.Taken[i].ID = rule + "." + name(t.ID)
	}
	return v
}

// hiddenID is the id of a dismissal whose problem may be over.
func hiddenID(d Dismissed, name func(string) string) string {
	if d.Problem.ID != "" {
		return d.Problem.ID
	}
	rule, _, _ := strings.Cut(d.By.ID, ".")
	return rule + "." + name(d.By.ID)
}

// each is a copy with every problem changed.
func (v View) each(change func(Problem) Problem) View {
	v.Items = append([]Problem(nil), v.Items...)
	for i := range v.Items {
		v.Items[i] = change(v.Items[i])
	}
	v.Dismissed = append([]Dismissed(nil), v.Dismissed...)
	for i := range v.Dismissed {
		if v.Dismissed[i].Problem.ID != "" {
			v.Dismissed[i].Problem = change(v.Dismissed[i].Problem)
		}
	}
	return v
}
