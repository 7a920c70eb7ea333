package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/surveys"
)

// surveyPolicy is who may start and stop a survey: it costs the cluster reads.
const surveyPolicy = guard.PolicyOperate

// surveyRoutes are those of the background measurements.
func surveyRoutes() []site.Route {
	route := func(method, path, summary string, p guard.Policy, answer any, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		return site.Route{Method: method, Pattern: api.Prefix + path, Policy: p, Tag: site.TagAPI, Summary: summary, Params: params, Answer: answer, Handler: h}
	}
	id := site.InPath("survey", "a survey's id")
	start := route("POST", "/surveys", "Start a survey: sample, projects, project or document", surveyPolicy, api.Survey{}, surveys.StartJSON)
	start.Body = api.SurveyStart{}
	list := site.Fresh(site.Page("/surveys", "What is measured, and what was"))
	list.Handler = surveys.ListPage
	one := site.Fresh(site.Page("/surveys/{survey}", "What did a survey find?"))
	one.Handler, one.Params = surveys.Page, []site.Param{id}
	stop := site.Form("/surveys/{survey}/stop", surveyPolicy, "Stop a survey; what it measured stays", surveys.StopForm, site.MediaHTML)
	stop.Params = []site.Param{id}
	return []site.Route{
		list, one,
		site.Form("/surveys", surveyPolicy, "Start a survey; reads only", surveys.StartForm, site.MediaHTML),
		stop,
		route("GET", "/surveys", "Surveys, newest first", guard.PolicyRead, api.List[api.Survey]{}, surveys.ListJSON),
		site.Answering(start, http.StatusAccepted),
		route("GET", "/surveys/{survey}", "One survey with what it found", guard.PolicyRead, api.SurveyDetail{}, surveys.JSON, id),
		route("POST", "/surveys/{survey}/stop", "Stop a survey; what it measured stays", surveyPolicy, api.Survey{}, surveys.StopJSON, id),
	}
}
