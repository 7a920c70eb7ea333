package changes

import (
	"net/url"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// kindsView is the choice of a kind.
func kindsView() templates.PlanForm {
	m := templates.PlanForm{Title: "New change", Lead: "What shall be changed? The page of a chunk, project, shard or zone offers what fits it."}
	for _, k := range actions.Kinds() {
		m.Kinds = append(m.Kinds, templates.Act{Text: answer.KindWord(k), URL: answer.PlanURL(k), Why: words.Code("change.lead", string(k), nil)})
	}
	return m
}

// planForm is the form of a kind. What the address names and the cluster has is
// said, not asked.
func planForm(v answer.View, k actions.Kind, in url.Values) templates.PlanForm {
	m := templates.PlanForm{Title: answer.KindWord(k), Lead: words.Code("change.lead", string(k), nil), Kind: string(k), Reason: site.Typed(in.Get("reason"), 2000)}
	f := answer.FormView{V: v, Kind: k, In: in}
	f.C = v.Table.Collection(topology.Namespace(in.Get("ns")))
	for _, name := range answer.FieldsOf(k) {
		name, needed := strings.CutSuffix(name, "*")
		value := site.Typed(in.Get(name), answer.MaxInput)
		if shown, ok := f.Known(name, value); ok {
			m.Fixed = append(m.Fixed, templates.PlanField{Name: name, Label: answer.ArgWord(name), Value: value, Shown: shown, Mono: name == "min" || name == "max" || name == "bounds" || name == "cuts"})
			continue
		}
		if name == "db" || name == "bounds" && value == "" || k == actions.Merge && in.Get("bounds") != "" && (name == "min" || name == "max") {
			continue // the project says it, or the chunk does
		}
		if k == actions.SplitHot && answer.Unasked(name, value, in) {
			continue
		}
		m.Fields = append(m.Fields, field(f, name, value, needed))
	}
	return m
}

func field(f answer.FormView, name, value string, needed bool) templates.PlanField {
	out := templates.PlanField{Name: name, Label: answer.ArgWord(name), Value: value, Needed: needed, Hint: f.Hint(name)}
	if !needed && name != "force" {
		out.Label = out.Label + " (may be left empty)"
	}
	choose := func(values ...string) {
		for _, x := range values {
			out.Options = append(out.Options, templates.Option{Value: x, Text: words.Code("arg."+name, answer.OrNone(x), nil), Selected: x == value})
		}
	}
	switch name {
	case "to", "shard":
		if needed {
			out.Options = append(out.Options, templates.Option{Text: "choose…"})
		} else {
			out.Options = append(out.Options, templates.Option{Text: "chosen by the plan"})
		}
		for _, s := range f.V.Table.Shards {
			text := s.Name
			if s.Draining {
				text = s.Name + " (being emptied)"
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
		if f.C != nil && f.C.Chunks.Len() > 0 {
			out.Placeholder = f.C.Key.ExtJSON(f.C.Chunks.At(f.C.Chunks.Len() / 2).Min)
		}
	case "ns":
		out.Placeholder = "database.collection"
	case "start", "stop":
		out.Placeholder = "HH:MM"
	}
	return out
}
