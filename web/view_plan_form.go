package web

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/internal/topology"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// argNames are the arguments of plans, in the order of their description.
func argNames() []string {
	return []string{"ns", "at", "parts", "bounds", "chunk", "to", "project", "db", "shard", "zone", "min", "max", "mode", "on", "start", "stop", "force", "expires", "owner", "pause", "chunks", "cuts"}
}

// fieldsOf are what a form of a kind asks for; a trailing * marks what is needed.
func fieldsOf(k actions.Kind) []string {
	switch k {
	case actions.Split:
		return []string{"ns*", "chunk", "bounds", "at", "parts"}
	case actions.SplitProject:
		return []string{"project*", "db", "ns"}
	case actions.SplitHot:
		return []string{"ns*", "chunk", "bounds", "chunks", "at", "to", "cuts", "pause"}
	case actions.Merge:
		return []string{"ns*", "bounds", "min*", "max*"}
	case actions.MoveChunk:
		return []string{"ns*", "chunk", "bounds", "to*", "min", "max", "force", "pause"}
	case actions.Pin, actions.Isolate:
		return []string{"project*", "db", "shard*", "mode", "expires", "owner", "pause"}
	case actions.Spread:
		return []string{"project*", "db", "pause"}
	case actions.Unpin:
		return []string{"project*", "db"}
	case actions.ZoneAddShard, actions.ZoneRemoveShard:
		return []string{"shard*", "zone*"}
	case actions.ZoneSetRange, actions.ZoneRemoveRange:
		return []string{"ns*", "zone*", "min*", "max*"}
	case actions.BalancerWindow:
		return []string{"start", "stop"}
	case actions.BalanceCollection:
		return []string{"ns*", "on*"}
	case actions.ClearJumbo:
		return []string{"ns*", "chunk", "bounds"}
	}
	return nil
}

// formArgs reads the arguments of a form: those that are empty were not given.
func formArgs(in url.Values) (actions.Args, error) {
	given := map[string]any{}
	for _, name := range argNames() {
		value, err := checkText(`The argument "`+name+`"`, in.Get(name))
		if err != nil {
			return actions.Args{}, err
		}
		plain := strings.TrimSpace(value)
		if plain == "" {
			continue
		}
		switch name {
		case "at", "min", "max", "bounds":
			if !json.Valid([]byte(plain)) {
				return actions.Args{}, fault.New(fault.Invalid, `The argument %q is not a shard-key value in Extended JSON, such as {"project_id": {"$oid": "…"}}.`, name)
			}
			given[name] = json.RawMessage(plain)
		case "chunks":
			given[name] = strings.FieldsFunc(plain, func(r rune) bool { return r == ',' || unicode.IsSpace(r) })
		case "cuts":
			if !json.Valid([]byte(plain)) {
				return actions.Args{}, fault.New(fault.Invalid, `The argument "cuts" is not JSON.`)
			}
			given[name] = json.RawMessage(plain)
		case "parts":
			n, err := strconv.Atoi(plain)
			if err != nil {
				return actions.Args{}, fault.New(fault.Invalid, `The argument "parts" is a number of pieces; %q is not.`, sanitize.Truncate(plain, 40))
			}
			given[name] = n
		case "on", "force":
			b, err := strconv.ParseBool(plain)
			if err != nil {
				return actions.Args{}, fault.New(fault.Invalid, `The argument %q is true or false; %q is neither.`, name, sanitize.Truncate(plain, 40))
			}
			given[name] = b
		case "start", "stop", "expires", "pause":
			given[name] = plain
		default:
			given[name] = value
		}
	}
	raw, err := json.Marshal(given)
	if err != nil {
		return actions.Args{}, fault.Wrap(fault.Invalid, err, "The form is not readable.")
	}
	return planArgs(raw)
}

// kindsView is the choice of a kind.
func kindsView() templates.PlanForm {
	m := templates.PlanForm{Title: words.T("plan.new"), Lead: words.T("plan.new.lead")}
	for _, k := range actions.Kinds() {
		m.Kinds = append(m.Kinds, templates.Act{Text: kindWord(k), URL: planURL(k), Why: words.Code("change.lead", string(k), nil)})
	}
	return m
}

// planURL is the address of a form, with arguments as name, value pairs.
func planURL(k actions.Kind, pairs ...string) string {
	q := url.Values{"kind": {string(k)}}
	for i := 0; i+1 < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			q.Set(pairs[i], pairs[i+1])
		}
	}
	return "/plans/new?" + q.Encode()
}

// planForm is the form of a kind. What the address names and the cluster has is
// said, not asked.
func planForm(v View, k actions.Kind, in url.Values) templates.PlanForm {
	m := templates.PlanForm{Title: kindWord(k), Lead: words.Code("change.lead", string(k), nil), Kind: string(k), Reason: typed(in.Get("reason"), 2000)}
	f := formView{v: v, kind: k, in: in}
	f.c = v.Table.Collection(topology.Namespace(in.Get("ns")))
	for _, name := range fieldsOf(k) {
		name, needed := strings.CutSuffix(name, "*")
		value := typed(in.Get(name), maxInput)
		if shown, ok := f.known(name, value); ok {
			m.Fixed = append(m.Fixed, templates.PlanField{Name: name, Label: argWord(name), Value: value, Shown: shown, Mono: name == "min" || name == "max" || name == "bounds" || name == "cuts"})
			continue
		}
		if name == "db" || name == "bounds" && value == "" || k == actions.Merge && in.Get("bounds") != "" && (name == "min" || name == "max") {
			continue // the project says it, or the chunk does
		}
		if k == actions.SplitHot && unasked(name, value, in) {
			continue
		}
		m.Fields = append(m.Fields, f.field(name, value, needed))
	}
	return m
}

// unasked tells whether a form of split-hot leaves a field out: another one says it.
func unasked(name, value string, in url.Values) bool {
	given := func(name string) bool { return in.Get(name) != "" }
	switch name {
	case "cuts":
		return value == ""
	case "chunk", "at":
		return value == "" && (given("cuts") || given("chunks") || name == "chunk" && given("bounds"))
	case "chunks":
		return value == "" && (given("cuts") || given("chunk") || given("bounds"))
	case "to":
		return value == "" && given("cuts")
	}
	return false
}

// formView draws the fields of one form.
type formView struct {
	v    View
	kind actions.Kind
	in   url.Values
	c    *topology.Collection // that ns names, if any
}

func argWord(name string) string { return words.Code("arg", name, nil) }

// known tells whether a value names something that there is, and how it is said.
func (f formView) known(name, value string) (string, bool) {
	if value == "" {
		return "", false
	}
	switch name {
	case "ns":
		return value, f.c != nil
	case "db":
		return value, slices.Contains(f.v.Dir.Databases(), value)
	case "project":
		id, err := bson.ObjectIDFromHex(value)
		if err != nil {
			return "", false
		}
		p, ok := f.v.Dir.ByID(id)
		return words.T("arg.project.known", "name", nameOf(p), "id", value), ok
	case "chunk":
		return f.chunk(value)
	case "zone":
		return value, f.kind != actions.ZoneAddShard && f.kind != actions.ZoneSetRange && f.zone(value)
	case "shard":
		return value, f.kind == actions.ZoneAddShard && f.v.Table.Shard(value) != nil || f.kind == actions.ZoneRemoveShard && f.v.Table.Shard(value) != nil
	case "on":
		return words.Code("arg.on", value, nil), value == "true" || value == "false"
	case "min", "max":
		return value, (f.kind == actions.ZoneRemoveRange || f.kind == actions.Merge) && f.c != nil && json.Valid([]byte(value))
	case "bounds", "cuts":
		return value, f.c != nil && json.Valid([]byte(value))
	}
	return "", false
}

func (f formView) zone(name string) bool {
	return slices.ContainsFunc(f.v.Table.Zones, func(z topology.ZoneRange) bool { return z.Zone == name }) ||
		slices.ContainsFunc(f.v.Table.Shards, func(s topology.Shard) bool { return slices.Contains(s.Zones, name) })
}

func (f formView) chunk(ref string) (string, bool) {
	if f.c == nil {
		return "", false
	}
	k, err := parseChunkRef(f.c, ref)
	if err != nil {
		return "", false
	}
	i, ch := f.c.Chunks.Find(k)
	if ch.Min.Compare(k) != 0 {
		return "", false
	}
	return words.T("arg.chunk.known", "n", format.Count(int64(i+1)), "of", format.Count(int64(f.c.Chunks.Len())),
		"min", f.c.Key.Display(ch.Min), "max", f.c.Key.Display(ch.Max), "shard", ch.Shard), true
}

func (f formView) field(name, value string, needed bool) templates.PlanField {
	out := templates.PlanField{Name: name, Label: argWord(name), Value: value, Needed: needed, Hint: f.hint(name)}
	if !needed && name != "force" {
		out.Label = words.T("arg.optional", "name", out.Label)
	}
	choose := func(values ...string) {
		for _, x := range values {
			out.Options = append(out.Options, templates.Option{Value: x, Text: words.Code("arg."+name, orNone(x), nil), Selected: x == value})
		}
	}
	switch name {
	case "to", "shard":
		if needed {
			out.Options = append(out.Options, templates.Option{Text: words.T("arg.choose")})
		} else {
			out.Options = append(out.Options, templates.Option{Text: words.T("arg.to.calmest")})
		}
		for _, s := range f.v.Table.Shards {
			text := s.Name
			if s.Draining {
				text = words.T("arg.draining", "shard", s.Name)
			}
			out.Options = append(out.Options, templates.Option{Value: s.Name, Text: text, Selected: s.Name == value})
		}
	case "mode":
		choose("moves", "balancer")
	case "on":
		choose("true", "false")
	case "expires":
		choose("", "24h", "168h", "720h", "2160h")
	case "pause":
		choose("", actions.PauseCollections, actions.PauseBalancer)
	case "force":
		out.Tick = true
	case "at", "min", "max", "bounds":
		out.Mono = true
		if f.c != nil && f.c.Chunks.Len() > 0 {
			out.Placeholder = f.c.Key.ExtJSON(f.c.Chunks.At(f.c.Chunks.Len() / 2).Min)
		}
	case "ns":
		out.Placeholder = "database.collection"
	case "start", "stop":
		out.Placeholder = "HH:MM"
	}
	return out
}

// hint is what to know of a field; where a kind means something of its own by
// it, that.
func (f formView) hint(name string) string {
	if own := "arg.hint." + string(f.kind) + "." + name; words.Has(own) {
		return words.T(own)
	}
	if words.Has("arg.hint." + name) {
		return words.T("arg.hint." + name)
	}
	return ""
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}
