package surveys

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/heat/survey"
	"shardboard/web/parts"
	"shardboard/web/site"
)

// pageSurveys lists the measurements. While one is under way, the browser asks
// again by itself: a header, so that it works without any script.
func PageSurveys(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, who := s.ViewFor(r), auth.From(r.Context())
	m := Surveys{Start: parts.SurveyForm(s.Deps.Surveys != nil, who)}
	var list []survey.Survey
	if s.Deps.Surveys != nil {
		list = s.Deps.Surveys.List()
	}
	for _, one := range list {
		row := surveyRow(v, one, who.May(auth.Operator))
		if row.Open {
			w.Header().Set("Refresh", "3")
		}
		m.Rows = append(m.Rows, row)
	}
	return site.WritePage(w, r, http.StatusOK, SurveysPage(s.Shell(r, v, "projects", "Surveys"), m))
}

// pageSurvey shows what one measurement found.
func PageSurvey(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	one, result, err := surveyAsked(s, r)
	if err != nil {
		return err
	}
	v, who := s.ViewFor(r), auth.From(r.Context())
	m := SurveyDetail{Row: surveyRow(v, one, who.May(auth.Operator))}
	if m.Row.Open {
		w.Header().Set("Refresh", "3")
	}
	if result != nil {
		for _, c := range result.Collections {
			m.Collections = append(m.Collections, surveyCollection(v, c))
		}
	}
	return site.WritePage(w, r, http.StatusOK, SurveyPage(s.Shell(r, v, "projects", m.Row.What), m))
}

// postSurvey starts what a form of a page says.
func PostSurvey(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	f := r.PostForm
	if _, err := startSurvey(s, r, api.SurveyStart{Kind: f.Get("kind"), Project: f.Get("project"), Document: f.Get("document"), DB: f.Get("db")}); err != nil {
		return err
	}
	w.Header().Set("Location", "/surveys")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}

func PostStopSurvey(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if _, err := stopSurvey(s, r); err != nil {
		return err
	}
	w.Header().Set("Location", "/surveys")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
