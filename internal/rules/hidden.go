package rules

import "strings"

// HideTexts is the problem without what servers wrote: text makes what stands in
// its place.
func (p Problem) HideTexts(text func(string) string) Problem {
	if p.Rule != MigrationsFailing {
		return p
	}
	if reason, ok := p.Text.Args["reason"]; ok {
		p.Text = p.Text.with("reason", text(reason))
	}
	p.Evidence = append([]Evidence(nil), p.Evidence...)
	for i := range p.Evidence {
		if p.Evidence[i].Name.Code == evidenceReason {
			p.Evidence[i].Text = text(p.Evidence[i].Text)
		}
	}
	return p
}

// HideBounds is the problem without key values: instead stands in their place, and
// name makes another id, because an id is a hash of what the problem is about. The
// plans of its remedy keep their arguments, which are what they are tried with.
func (p Problem) HideBounds(instead string, name func(string) string) Problem {
	p.ID = string(p.Rule) + "." + name(p.ID)
	if ns := string(p.NS) + " "; strings.HasPrefix(p.Subject, ns+"{") {
		p.Subject = ns + instead
	}
	p.Evidence = append([]Evidence(nil), p.Evidence...)
	for i, e := range p.Evidence {
		if e.Name.Code == evidenceHotMin || e.Name.Code == evidenceJumboMin {
			p.Evidence[i].Text = instead
		}
	}
	p.Remedy.Commands = append([]Command(nil), p.Remedy.Commands...)
	for i, c := range p.Remedy.Commands {
		if strings.Contains(c.Text, parseCall) {
			p.Remedy.Commands[i].Text = "// " + instead
		}
	}
	return p
}

// with is the message with another argument.
func (m Message) with(name, value string) Message {
	args := map[string]string{}
	for n, v := range m.Args {
		args[n] = v
	}
	args[name] = value
	return Message{Code: m.Code, Args: args}
}

// Figures whose text is a server's or a bound, by the code of their name.
const (
	evidenceReason   = "failing.reason"
	evidenceHotMin   = "hotChunk.min"
	evidenceJumboMin = "jumbo.first"
)

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
