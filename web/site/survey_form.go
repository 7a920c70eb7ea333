package site

import (
	"shardboard/internal/auth"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// SurveyForm is the form that starts a survey, or why this person may not.
func (s *Site) SurveyForm(who auth.Principal) templates.SurveyForm {
	if !who.May(auth.Operator) {
		return templates.SurveyForm{Needs: "Measuring costs the cluster reads; starting it needs the role " + parts.RoleWord(auth.Operator) + "."}
	}
	return templates.SurveyForm{May: s.Deps.Surveys != nil}
}
