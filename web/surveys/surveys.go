// Package surveys shows, starts and stops the background measurements of sizes.
package surveys

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/heat/survey"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// ListPage lists the surveys.
func ListPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, who := s.ViewFor(r), auth.From(r.Context())
	list := answer.SurveyList(v, surveys(s)).Items
	for _, one := range list {
		refresh(w, one)
	}
	return site.WritePage(w, r, http.StatusOK, listPage(s.Shell(r, v, "surveys", "Surveys"), list, s.SurveyForm(who), readerOf(v, who)))
}

// list lists the surveys.
func list(s *site.Site, r *http.Request) (a api.List[api.Survey], err error) {
	return answer.SurveyList(s.ViewFor(r), surveys(s)), nil
}

// Page shows one survey and what it found.
func Page(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, who := s.ViewFor(r), auth.From(r.Context())
	one, err := found(s, v, r)
	if err != nil {
		return err
	}
	refresh(w, one.Survey)
	sh := s.Shell(r, v, "surveys", s.Deps.Cluster.Profile.Words(survey.Kind(one.Survey.Kind).Label()))
	return site.WritePage(w, r, http.StatusOK, surveyPage(sh, one, templates.RefsOf(v.Table), readerOf(v, who)))
}

// results is one survey and what it found.
func results(s *site.Site, r *http.Request) (a api.SurveyDetail, err error) {
	one, err := found(s, s.ViewFor(r), r)
	if err != nil {
		return a, err
	}
	return one, nil
}

// refresh makes the browser load the page again while a survey is under way: a
// header, so that it works without any script.
func refresh(w http.ResponseWriter, one api.Survey) {
	if !ended(one) {
		w.Header().Set("Refresh", "3")
	}
}

func readerOf(v answer.View, who auth.Principal) reader {
	return reader{now: v.Now, stop: who.May(auth.Operator)}
}

// surveys are all surveys; none on a server that measures nothing.
func surveys(s *site.Site) []survey.Survey {
	if s.Deps.Measured.Surveys == nil {
		return nil
	}
	return s.Deps.Measured.Surveys.List()
}

// engine starts and stops surveys; fault.Unavailable on a server that measures nothing.
func engine(s *site.Site) (answer.Surveys, error) {
	if s.Deps.Measured.Surveys == nil {
		return nil, fault.New(fault.Unavailable, "This server measures nothing in the background.")
	}
	return s.Deps.Measured.Surveys, nil
}

// found is the survey that the address names.
func found(s *site.Site, v answer.View, r *http.Request) (api.SurveyDetail, error) {
	e, err := engine(s)
	if err != nil {
		return api.SurveyDetail{}, err
	}
	id, err := site.PathText(r, "survey")
	if err != nil {
		return api.SurveyDetail{}, err
	}
	one, result, err := e.Survey(r.Context(), id)
	if err != nil {
		return api.SurveyDetail{}, err
	}
	return answer.SurveyFound(v, one, result), nil
}
