package site

import (
	"shardboard/internal/auth"
	"shardboard/web/templates"
)

// SurveyForm is the form that starts a survey, or why this person may not.
func (s *Site) SurveyForm(who auth.Principal) templates.SurveyForm {
	if !who.May(auth.Operator) {
		return templates.SurveyForm{Needs: "Measuring costs the cluster reads; starting it needs the role " + auth.Operator.Label() + "."}
	}
	return templates.SurveyForm{May: s.Deps.Surveys != nil}
}
