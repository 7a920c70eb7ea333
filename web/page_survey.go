package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/heat/survey"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// pageSurveys lists the measurements. While one is under way, the browser asks
// again by itself: a header, so that it works without any script.
func (s *Site) pageSurveys(w http.ResponseWriter, r *http.Request) error {
	v, who := s.viewFor(r), auth.From(r.Context())
	m := templates.Surveys{Start: surveyForm(s.deps.Surveys != nil, who)}
	var list []survey.Survey
	if s.deps.Surveys != nil {
		list = s.deps.Surveys.List()
	}
	for _, one := range list {
		row := surveyRow(v, one, who.May(auth.Operator))
		if row.Open {
			w.Header().Set("Refresh", "3")
		}
		m.Rows = append(m.Rows, row)
	}
	return writePage(w, r, http.StatusOK, templates.SurveysPage(s.shell(r, v, "projects", words.T("survey.title")), m))
}

// pageSurvey shows what one measurement found.
func (s *Site) pageSurvey(w http.ResponseWriter, r *http.Request) error {
	one, result, err := s.surveyAsked(r)
	if err != nil {
		return err
	}
	v, who := s.viewFor(r), auth.From(r.Context())
	m := templates.SurveyDetail{Row: surveyRow(v, one, who.May(auth.Operator))}
	if m.Row.Open {
		w.Header().Set("Refresh", "3")
	}
	if result != nil {
		for _, c := range result.Collections {
			m.Collections = append(m.Collections, surveyCollection(v, c))
		}
	}
	return writePage(w, r, http.StatusOK, templates.SurveyPage(s.shell(r, v, "projects", m.Row.What), m))
}

// postSurvey starts what a form of a page says.
func (s *Site) postSurvey(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	f := r.PostForm
	if _, err := s.startSurvey(r, api.SurveyStart{Kind: f.Get("kind"), Project: f.Get("project"), Document: f.Get("document"), DB: f.Get("db")}); err != nil {
		return err
	}
	w.Header().Set("Location", "/surveys")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

func (s *Site) postStopSurvey(w http.ResponseWriter, r *http.Request) error {
	if _, err := s.stopSurvey(r); err != nil {
		return err
	}
	w.Header().Set("Location", "/surveys")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
