package web

import (
	"net/http"

	"shardboard/internal/api"
)

// dismissPolicy is for dismissing problems, alertPolicy for silencing alerts and for
// test messages, which go to other systems.
const (
	dismissPolicy = PolicyOperate
	alertPolicy   = PolicyAdmin
)

// adviceRoutes are the routes of problems and alerts.
func adviceRoutes() []Route {
	route := func(method, path, summary string, p Policy, body, answer any, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		return Route{Method: method, Pattern: api.Prefix + path, Policy: p, Tag: tagAPI, Summary: summary, Body: body, Answer: answer, Params: params, handler: h}
	}
	shown, alerts := fresh(page("/advice", "Which problems are there, and what helps?")), fresh(page("/alerts", "Which alerts were sent, and to whom?"))
	shown.handler, alerts.handler = (*Site).pageAdvice, (*Site).pageAlerts
	id := inPath("id", "an advice's id")
	return []Route{
		shown, alerts,
		form("/advice/dismiss", dismissPolicy, "Dismiss a problem with a reason", (*Site).postDismiss, mediaHTML),
		form("/advice/restore", dismissPolicy, "Take a dismissal back", (*Site).postRestore, mediaHTML),
		form("/alerts/test", alertPolicy, "Send a test message to one receiver", (*Site).postAlertTest, mediaHTML),
		form("/alerts/silences", alertPolicy, "Keep an alert or a rule's alerts from being told for a while", (*Site).postSilence, mediaHTML),
		form("/alerts/silences/end", alertPolicy, "End a silence", (*Site).postEndSilence, mediaHTML),
		route("GET", "/advice", "Problems, greatest first, and what could not be checked", PolicyRead, nil, api.AdviceList{}, (*Site).apiAdvice),
		route("POST", "/advice/{id}/dismiss", "Dismiss a problem; the reason is required", dismissPolicy, api.Reason{}, api.AdviceList{}, (*Site).apiDismiss, id),
		route("POST", "/advice/{id}/restore", "Take a dismissal back", dismissPolicy, nil, api.AdviceList{}, (*Site).apiRestore, id),
		route("GET", "/alerts", "Alerts, receivers and silences", PolicyRead, nil, api.Alerts{}, (*Site).apiAlerts),
		route("POST", "/alerts/test", "Send a test message to one receiver", alertPolicy, api.AlertTest{}, api.Alerts{}, (*Site).apiAlertTest),
		route("POST", "/alerts/silences", "Begin a silence", alertPolicy, api.SilenceStart{}, api.Alerts{}, (*Site).apiSilence),
		route("POST", "/alerts/silences/end", "End a silence", alertPolicy, api.SilenceEnd{}, api.Alerts{}, (*Site).apiEndSilence),
	}
}
