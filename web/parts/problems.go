package parts

import (
	"shardboard/internal/answer"
	"shardboard/internal/rules"
	"shardboard/web/templates"
)

// ProblemList is a list of problems as pages other than the advice show them,
// greatest first.
func ProblemList(v answer.View, found []rules.Problem) []templates.Attention {
	var out []templates.Attention
	for _, p := range found {
		out = append(out, templates.Attention{Key: p.ID, Severity: string(p.Severity), SeverityText: p.Severity.Name(), Urgent: p.Severity == rules.Critical,
			Text: p.Text.At(v.Now), Advice: p.Why.At(v.Now), URL: answer.ProblemURL(v, p)})
	}
	return out
}
