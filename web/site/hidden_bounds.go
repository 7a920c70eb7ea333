package site

import (
	"shardboard/internal/answer"
	"shardboard/internal/rules"
)

// hideInProblems takes out of a list of problems what somebody does not see.
func (s *Site) hideInProblems(found rules.View, h answer.Hidden) rules.View {
	if h.Texts {
		found = found.HideTexts(answer.HideText)
	}
	if h.Bounds {
		found = found.HideBounds(s.tables.Hiding.Text, s.tables.Hiding.Name)
	}
	return found
}
