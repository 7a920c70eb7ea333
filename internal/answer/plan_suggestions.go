package answer

import (
	"shardboard/internal/actions"
	"shardboard/internal/api"
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
