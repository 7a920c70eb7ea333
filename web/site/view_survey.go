package site

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/auth"
	"shardboard/web/parts"
	"shardboard/web/templates"
)

// surveyPanelOf is the panel of a project's page; empty where nothing measures.
func (s *Site) SurveyPanelOf(v answer.View, id bson.ObjectID, who auth.Principal) templates.SurveyPanel {
	pr, ok := v.Dir.ByID(id)
	if s.Deps.Surveys == nil || !ok {
		return templates.SurveyPanel{}
	}
	m := parts.SurveyPanel(v, s.Deps.Surveys.Findings(pr.DB, id), pr)
	f := parts.SurveyForm(true, who)
	m.Start.May, m.Start.Needs = f.May, f.Needs
	return m
}
