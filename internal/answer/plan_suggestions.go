package answer

import (
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/api"
	"shardboard/internal/message"
	"shardboard/internal/rules"
)

// suggestionsOf are the plans that resolve what a check found, as links to their forms.
func suggestionsOf(v View, plans []actions.Suggestion) []api.AdvicePlan {
	var out []api.AdvicePlan
	for _, s := range plans {
		p := rules.Plan{Kind: string(s.Kind), Args: s.Args, Text: s.Text}
		text := s.Text
		if v.Table != nil {
			text = v.Named(text)
		}
		out = append(out, api.AdvicePlan{Kind: p.Kind, Args: planArguments(p), Text: text.String(),
			URL: remedyURL(p, "")})
	}
	return out
}

// withoutKeys leaves out the suggestions whose arguments have key values.
func withoutKeys(plans []actions.Suggestion) []actions.Suggestion {
	return slices.DeleteFunc(slices.Clone(plans), func(s actions.Suggestion) bool {
		for _, name := range []string{"bounds", "min", "max", "at"} {
			if s.Args[name] != "" {
				return true
			}
		}
		return slices.ContainsFunc(s.Text.Facts, func(f message.Fact) bool { return f.Kind == message.KindKey })
	})
}
