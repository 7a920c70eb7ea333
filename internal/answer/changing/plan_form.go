package changing

import (
	"encoding/json"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/message"
	"shardboard/internal/natural"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// PlanForm asks for the arguments of a change.
type PlanForm struct {
	Kind    actions.Description
	Subject []PlanField // stated, not asked for: what the form was opened on
	Fields  []PlanField

	SeveralURL string // of the form of a batch of such changes; "" for none
	OneURL     string // of a batch: of the form of one such change; "" for none
	OneTitle   string
}

// PlanField is one argument in a form.
type PlanField struct {
	Name, Label, Hint string
	Value             string
	Shown             message.Message // Value for people, where it is stated
	Placeholder       string
	Choices           []actions.Choice // of a list; none for a text
	Needed            bool
	Tick              bool // a checkbox of the value "true"
	Mono              bool
	Long              bool // a text of many lines
}

// PlanFormOf is the form of a kind, filled in with the values that are given by name.
// What the change is about is stated, not asked for, if the cluster has it.
func PlanFormOf(v answer.View, k actions.Kind, value func(name string) string) PlanForm {
	out := PlanForm{Kind: actions.Describe(k), SeveralURL: severalURL(k, value)}
	if k == actions.Batch {
		var one actions.Kind
		if out.OneURL, one = oneURL(value); one != "" {
			out.OneTitle = actions.Describe(one).Title
		}
	}
	f := fieldMaker{v: v, c: v.Table.Collection(topology.Namespace(value("ns")))}
	given := func(name string) bool { return value(name) != "" }
	for _, x := range out.Kind.Arguments {
		text := value(x.Name)
		if k == actions.Batch && text == "" && !askedFor(actions.Kind(value("each")), x.Name) {
			continue
		}
		if shown, ok := f.existing(x, text); ok && x.Subject {
			out.Subject = append(out.Subject, PlanField{Name: x.Name, Label: x.Label, Value: text, Shown: shown, Mono: isJSON(x)})
			continue
		}
		if text != "" || !x.Unasked && !slices.ContainsFunc(x.Or, given) {
			out.Fields = append(out.Fields, f.field(x, text))
		}
	}
	return out
}

// fieldMaker makes the fields of one form.
type fieldMaker struct {
	v answer.View
	c *topology.Collection // that ns names; nil for none
}

// existing tells whether a value names something that exists, and how it is shown.
func (f fieldMaker) existing(x actions.Argument, value string) (m message.Message, ok bool) {
	if value == "" {
		return m, false
	}
	stated := func(fact message.Fact) message.Message { return message.New("stated", "{value}", fact) }
	switch x.Type {
	case actions.TypeCollection, actions.TypeNamespace:
		unsharded := x.Type == actions.TypeNamespace && slices.Contains(f.v.Table.Unsharded, topology.Namespace(value))
		return stated(message.Namespace("value", value)), f.c != nil || unsharded
	case actions.TypeDatabase:
		return stated(message.Text("value", value)), slices.Contains(f.databases(x), value)
	case actions.TypeProject:
		id, err := bson.ObjectIDFromHex(value)
		if err != nil {
			return m, false
		}
		p, ok := f.v.Dir.ByID(id)
		return message.New("stated", "{value} ({id})", message.Project("value", value, answer.NameOf(p)), message.Text("id", p.IDText())), ok
	case actions.TypeChunk:
		return f.chunk(value)
	case actions.TypeZone:
		_, ok := answer.ZoneExists(f.v.Table, value)
		return stated(message.Zone("value", value)), ok
	case actions.TypeShard:
		return stated(message.Shard("value", value)), f.v.Table.Shard(value) != nil
	case actions.TypeBool:
		i := slices.IndexFunc(x.Choices, func(c actions.Choice) bool { return c.Value == value })
		if i < 0 {
			return m, false
		}
		return stated(message.Words("value", x.Choices[i].Text)), true
	case actions.TypeKey:
		if f.c == nil {
			return m, false
		}
		doc, err := shardkey.ParseExtJSON(value)
		if err != nil {
			return m, false
		}
		return message.New("stated", "{"+x.Name+"}", message.Namespace("ns", f.c.NS), message.Key(x.Name, shardkey.PlainValues(doc))), true
	case actions.TypePattern:
		return stated(message.Text("value", value)), json.Valid([]byte(value))
	case actions.TypeBounds, actions.TypeCuts, actions.TypeZones:
		return stated(message.Key("value", value)), f.c != nil && json.Valid([]byte(value))
	}
	return m, false
}

// databases are those that an argument can name: for a change of a database all that are
// known, else those with projects.
func (f fieldMaker) databases(x actions.Argument) (out []string) {
	if !x.Required {
		return f.v.Dir.Databases()
	}
	for _, d := range f.v.Table.Databases {
		if d.Name != "config" && d.Name != "admin" {
			out = append(out, d.Name)
		}
	}
	natural.Sort(out)
	return out
}

// databaseChoices offers the known databases. Without any, or for one that is not known, the
// field is a text.
func (f fieldMaker) databaseChoices(x actions.Argument, value string) (out []actions.Choice) {
	known := f.databases(x)
	if len(known) == 0 || value != "" && !slices.Contains(known, value) {
		return nil
	}
	first := "choose…"
	if !x.Required {
		first = "any"
	}
	out = append(out, actions.Choice{Text: first})
	for _, name := range known {
		out = append(out, actions.Choice{Value: name, Text: name})
	}
	return out
}

// chunk shows which chunk a reference names.
func (f fieldMaker) chunk(ref string) (m message.Message, ok bool) {
	if f.c == nil {
		return m, false
	}
	i, _, err := f.c.ByRef(ref)
	if err != nil || i < 0 {
		return m, false
	}
	ch := f.c.Chunks.At(i)
	m = message.New("chunk", "{n} of {of}: {min} → {max} on {shard}", message.Count("n", i+1), message.Count("of", f.c.Chunks.Len()),
		message.Namespace("ns", f.c.NS), message.Key("min", f.c.Key.Display(ch.Min)), message.Key("max", f.c.Key.Display(ch.Max)),
		message.Shard("shard", ch.Shard))
	return m, true
}

// field is the field of an argument that the form asks for.
func (f fieldMaker) field(x actions.Argument, value string) PlanField {
	out := PlanField{Name: x.Name, Label: x.Label, Value: value, Needed: x.Required, Hint: x.Help, Mono: isJSON(x)}
	if !x.Required && x.Default == "" && x.Type != actions.TypeSwitch {
		out.Label += " (optional)"
	}
	out.Choices = slices.Clone(x.Choices)
	switch x.Type {
	case actions.TypeShard:
		for _, s := range f.v.Table.Shards {
			text := s.Name
			if s.Draining {
				text += " (draining)"
			}
			out.Choices = append(out.Choices, actions.Choice{Value: s.Name, Text: text})
		}
		// Nobody gets the first shard because they chose none.
		out.Choices = slices.Insert(out.Choices, 0, actions.Choice{Text: "choose…"})
	case actions.TypeDatabase:
		out.Choices = f.databaseChoices(x, value)
	case actions.TypeSwitch:
		out.Tick = true
	case actions.TypePlans:
		out.Long, out.Placeholder = true, `[{"kind": "pin", "args": {"project": "…", "shard": "…"}}]`
	case actions.TypeProjects:
		out.Long = true
	case actions.TypeKey, actions.TypeBounds:
		if f.c != nil && f.c.Chunks.Len() > 0 {
			out.Placeholder = f.c.Key.ExtJSON(f.c.Chunks.At(f.c.Chunks.Len() / 2).Min)
		}
	case actions.TypePattern:
		if f.c != nil {
			if key, ok := f.v.Profile.LongerKey(f.c); ok {
				out.Placeholder = key.JSON()
			}
		}
	case actions.TypeZones:
		out.Placeholder = `[{"min": …, "max": …, "zone": "…"}]`
	case actions.TypeCollection, actions.TypeNamespace:
		out.Placeholder = "database.collection"
	case actions.TypeTime:
		out.Placeholder = "HH:MM"
	}
	if x.Empty != "" {
		out.Choices = slices.Insert(out.Choices, 0, actions.Choice{Text: x.Empty})
	}
	return out
}

// isJSON tells whether people write the argument as JSON.
func isJSON(x actions.Argument) bool {
	return slices.Contains([]actions.ArgumentType{actions.TypeKey, actions.TypePattern, actions.TypeBounds, actions.TypeCuts,
		actions.TypeZones, actions.TypePlans}, x.Type)
}
