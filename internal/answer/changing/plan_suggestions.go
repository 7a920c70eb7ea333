package changing

import (
	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/offering"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/rules"
)

// suggestionsOf are the plans that resolve what a check found, as links to their forms.
func suggestionsOf(v answer.View, plans []actions.Suggestion) []api.AdvicePlan {
	var out []api.AdvicePlan
	for _, s := range plans {
		p := rules.Plan{Kind: string(s.Kind), Args: s.Args, Text: s.Text}
		text := s.Text
		if v.Table != nil {
			text = v.Named(text)
		}
		out = append(out, api.AdvicePlan{Kind: p.Kind, Args: offering.PlanArguments(p), Text: text.String(),
			URL: api.Address(problems.RemedyURL(p, ""))})
	}
	return out
}
