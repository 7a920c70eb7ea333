package web

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/web/advice"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// dismissPolicy is for dismissing problems, alertPolicy for silencing alerts and for
// test messages, which go to other systems.
const (
	dismissPolicy = guard.PolicyOperate
	alertPolicy   = guard.PolicyAdmin
)

// adviceRoutes are the routes of problems and alerts.
func adviceRoutes() []site.Route {
	route := func(method, path, summary string, p guard.Policy, body, answer any, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		return site.Route{Method: method, Pattern: api.Prefix + path, Policy: p, Tag: site.TagAPI, Summary: summary, Body: body, Answer: answer, Params: params, Handler: h}
	}
	shown, alerts := site.Fresh(site.Page("/advice", "Which problems are there, and what helps?")), site.Fresh(site.Page("/alerts", "Which alerts were sent, and to whom?"))
	shown.Handler, alerts.Handler = advice.PageAdvice, advice.PageAlerts
	id := site.InPath("id", "an advice's id")
	return []site.Route{
		shown, alerts,
		site.Form("/advice/dismiss", dismissPolicy, "Dismiss a problem with a reason", advice.PostDismiss, site.MediaHTML),
		site.Form("/advice/restore", dismissPolicy, "Take a dismissal back", advice.PostRestore, site.MediaHTML),
		site.Form("/alerts/test", alertPolicy, "Send a test message to one receiver", advice.PostAlertTest, site.MediaHTML),
		site.Form("/alerts/silences", alertPolicy, "Keep an alert or a rule's alerts from being told for a while", advice.PostSilence, site.MediaHTML),
		site.Form("/alerts/silences/end", alertPolicy, "End a silence", advice.PostEndSilence, site.MediaHTML),
		route("GET", "/advice", "Problems, greatest first, and what could not be checked", guard.PolicyRead, nil, api.AdviceList{}, advice.ApiAdvice),
		route("POST", "/advice/{id}/dismiss", "Dismiss a problem; the reason is required", dismissPolicy, api.Reason{}, api.AdviceList{}, advice.ApiDismiss, id),
		route("POST", "/advice/{id}/restore", "Take a dismissal back", dismissPolicy, nil, api.AdviceList{}, advice.ApiRestore, id),
		route("GET", "/alerts", "Alerts, receivers and silences", guard.PolicyRead, nil, api.Alerts{}, advice.ApiAlerts),
		route("POST", "/alerts/test", "Send a test message to one receiver", alertPolicy, api.AlertTest{}, api.Alerts{}, advice.ApiAlertTest),
		route("POST", "/alerts/silences", "Begin a silence", alertPolicy, api.SilenceStart{}, api.Alerts{}, advice.ApiSilence),
		route("POST", "/alerts/silences/end", "End a silence", alertPolicy, api.SilenceEnd{}, api.Alerts{}, advice.ApiEndSilence),
	}
}
