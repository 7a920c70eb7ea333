package changes

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// form asks for the arguments of a change.
type form struct {
	Title, Lead string
	Kind        string
	Problem     string  // why what was sent was refused
	Fixed       []field // stated, not asked: what the form was opened on
	Fields      []field
	Reason      string
}

// field is one argument in a form.
type field struct {
	Name, Label, Hint string
	Value, Shown      string // Shown is Value for people, of fields that are stated
	Placeholder       string
	Options           []templates.Option // of a list to choose from
	Needed            bool
	Tick              bool // a checkbox of the value "true"
	Mono              bool
}

// FormArgs reads the arguments of a form: those that are empty were not given.
func FormArgs(in url.Values) (actions.Args, error) {
	given := map[string]json.RawMessage{}
	for _, x := range actions.Arguments() {
		text := in.Get(x.Name)
		if strings.TrimSpace(text) == "" {
			continue
		}
		raw, err := x.FromText(text)
		if err != nil {
			return actions.Args{}, err
		}
		given[x.Name] = raw
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return actions.Args{}, fault.Wrap(fault.Invalid, err, "The form is not readable.")
	}
	return actions.ReadArgs(raw)
}

// formOf is the form of a kind. What the change is about is stated, not asked,
// when the address names it and the cluster has it.
func formOf(v answer.View, k actions.Kind, in url.Values) form {
	about := k.Describe()
	m := form{Title: about.Title, Lead: about.Lead, Kind: string(k), Reason: site.Typed(in.Get("reason"), 2000)}
	f := fieldMaker{v: v, c: v.Table.Collection(topology.Namespace(in.Get("ns")))}
	given := func(name string) bool { return in.Get(name) != "" }
	for _, x := range about.Arguments {
		value := site.Typed(in.Get(x.Name), answer.MaxInput)
		if shown, ok := f.existing(x, value); ok && x.Subject {
			m.Fixed = append(m.Fixed, field{Name: x.Name, Label: x.Label, Value: value, Shown: shown, Mono: isJSON(x)})
			continue
		}
		if value != "" || !x.Unasked && !slices.ContainsFunc(x.Or, given) {
			m.Fields = append(m.Fields, f.field(x, value))
		}
	}
	return m
}

// fieldMaker makes the fields of one form.
type fieldMaker struct {
	v answer.View
	c *topology.Collection // that ns names; nil for none
}

// existing tells whether a value names something that exists, and how it is shown.
func (f fieldMaker) existing(x actions.Argument, value string) (string, bool) {
	if value == "" {
		return "", false
	}
	switch x.Type {
	case actions.TypeCollection, actions.TypeNamespace:
		return value, f.c != nil
	case actions.TypeDatabase:
		return value, slices.Contains(f.v.Dir.Databases(), value)
	case actions.TypeProject:
		id, err := bson.ObjectIDFromHex(value)
		if err != nil {
			return "", false
		}
		p, ok := f.v.Dir.ByID(id)
		return answer.NameOf(p) + " (" + value + ")", ok
	case actions.TypeChunk:
		return f.chunk(value)
	case actions.TypeZone:
		return value, f.zone(value)
	case actions.TypeShard:
		return value, f.v.Table.Shard(value) != nil
	case actions.TypeBool:
		i := slices.IndexFunc(x.Choices, func(c actions.Choice) bool { return c.Value == value })
		if i < 0 {
			return "", false
		}
		return x.Choices[i].Text, true
	case actions.TypeKey, actions.TypeBounds, actions.TypeCuts:
		return value, f.c != nil && json.Valid([]byte(value))
	}
	return "", false
}

func (f fieldMaker) zone(name string) bool {
	return slices.ContainsFunc(f.v.Table.Zones, func(z topology.ZoneRange) bool { return z.Zone == name }) ||
		slices.ContainsFunc(f.v.Table.Shards, func(s topology.Shard) bool { return slices.Contains(s.Zones, name) })
}

// chunk shows which chunk a reference names.
func (f fieldMaker) chunk(ref string) (string, bool) {
	if f.c == nil {
		return "", false
	}
	k, err := answer.ParseChunkRef(f.c, ref)
	if err != nil {
		return "", false
	}
	i, ch := f.c.Chunks.Find(k)
	if ch.Min.Compare(k) != 0 {
		return "", false
	}
	return fmt.Sprintf("%s of %s: %s → %s on %s", format.Count(int64(i+1)), format.Count(int64(f.c.Chunks.Len())),
		f.c.Key.Display(ch.Min), f.c.Key.Display(ch.Max), ch.Shard), true
}

// field is the field of an argument that the form asks for.
func (f fieldMaker) field(x actions.Argument, value string) field {
	out := field{Name: x.Name, Label: x.Label, Value: value, Needed: x.Required, Hint: x.Help, Mono: isJSON(x)}
	if !x.Required && x.Default == "" && x.Type != actions.TypeSwitch {
		out.Label += " (may be left empty)"
	}
	choices := slices.Clone(x.Choices)
	switch x.Type {
	case actions.TypeShard:
		for _, s := range f.v.Table.Shards {
			text := s.Name
			if s.Draining {
				text += " (being emptied)"
			}
			choices = append(choices, actions.Choice{Value: s.Name, Text: text})
		}
		if x.Required {
			choices = slices.Insert(choices, 0, actions.Choice{Text: "choose…"})
		}
	case actions.TypeSwitch:
		out.Tick = true
	case actions.TypeKey, actions.TypeBounds:
		if f.c != nil && f.c.Chunks.Len() > 0 {
			out.Placeholder = f.c.Key.ExtJSON(f.c.Chunks.At(f.c.Chunks.Len() / 2).Min)
		}
	case actions.TypeCollection, actions.TypeNamespace:
		out.Placeholder = "database.collection"
	case actions.TypeTime:
		out.Placeholder = "HH:MM"
	}
	if x.Empty != "" {
		choices = slices.Insert(choices, 0, actions.Choice{Text: x.Empty})
	}
	for _, c := range choices {
		out.Options = append(out.Options, templates.Option{Value: c.Value, Text: c.Text, Selected: c.Value != "" && c.Value == value})
	}
	return out
}

// isJSON tells whether people write the argument as JSON.
func isJSON(x actions.Argument) bool {
	return x.Type == actions.TypeKey || x.Type == actions.TypeBounds || x.Type == actions.TypeCuts
}
