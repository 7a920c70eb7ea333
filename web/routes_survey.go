package web

import (
	"net/http"

	"shardboard/internal/api"
)

// surveyPolicy is who may start and stop a survey: it costs the cluster reads.
const surveyPolicy = PolicyOperate

// surveyRoutes are those of the background measurements.
func surveyRoutes() []Route {
	route := func(method, path, summary string, p Policy, answer any, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		return Route{Method: method, Pattern: api.Prefix + path, Policy: p, Tag: tagAPI, Summary: summary, Params: params, Answer: answer, handler: h}
	}
	id := inPath("survey", "a survey's id")
	start := route("POST", "/surveys", "Start a survey: sample, projects, project or document", surveyPolicy, api.Survey{}, (*Site).apiStartSurvey)
	start.Body = api.SurveyStart{}
	list := fresh(page("/surveys", "What is measured, and what was"))
	list.handler = (*Site).pageSurveys
	one := fresh(page("/surveys/{survey}", "What did a survey find?"))
	one.handler, one.Params = (*Site).pageSurvey, []Param{id}
	stop := form("/surveys/{survey}/stop", surveyPolicy, "Stop a survey; what it measured stays", (*Site).postStopSurvey, mediaHTML)
	stop.Params = []Param{id}
	return []Route{
		list, one,
		form("/surveys", surveyPolicy, "Start a survey; reads only", (*Site).postSurvey, mediaHTML),
		stop,
		route("GET", "/surveys", "Surveys, newest first", PolicyRead, api.List[api.Survey]{}, (*Site).apiSurveys),
		answering(start, http.StatusAccepted),
		route("GET", "/surveys/{survey}", "One survey with what it found", PolicyRead, api.SurveyDetail{}, (*Site).apiSurvey, id),
		route("POST", "/surveys/{survey}/stop", "Stop a survey; what it measured stays", surveyPolicy, api.Survey{}, (*Site).apiStopSurvey, id),
	}
}
