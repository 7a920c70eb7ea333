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
	shown.Handler, alerts.Handler = advice.Page, advice.AlertsPage
	id := site.InPath("id", "an advice's id")
	return []site.Route{
		shown, alerts,
		site.Form("/advice/dismiss", dismissPolicy, "Dismiss a problem with a reason", advice.Dismiss, site.MediaHTML),
		site.Form("/advice/restore", dismissPolicy, "Take a dismissal back", advice.Restore, site.MediaHTML),
		site.Form("/alerts/test", alertPolicy, "Send a test message to one receiver", advice.TestReceiver, site.MediaHTML),
		site.Form("/alerts/silences", alertPolicy, "Suppress an alert, or a rule's alerts, for a while", advice.Silence, site.MediaHTML),
		site.Form("/alerts/silences/end", alertPolicy, "End a silence", advice.EndSilence, site.MediaHTML),
		route("GET", "/advice", "Problems, greatest first, and what could not be checked", guard.PolicyRead, nil, api.AdviceList{}, advice.JSON),
		route("POST", "/advice/{id}/dismiss", "Dismiss a problem; the reason is required", dismissPolicy, api.Reason{}, api.AdviceList{}, advice.DismissJSON, id),
		route("POST", "/advice/{id}/restore", "Take a dismissal back", dismissPolicy, nil, api.AdviceList{}, advice.RestoreJSON, id),
		route("GET", "/alerts", "Alerts, receivers and silences", guard.PolicyRead, nil, api.Alerts{}, advice.AlertsJSON),
		route("POST", "/alerts/test", "Send a test message to one receiver", alertPolicy, api.AlertTest{}, api.Alerts{}, advice.TestReceiverJSON),
		route("POST", "/alerts/silences", "Begin a silence", alertPolicy, api.SilenceStart{}, api.Alerts{}, advice.SilenceJSON),
		route("POST", "/alerts/silences/end", "End a silence", alertPolicy, api.SilenceEnd{}, api.Alerts{}, advice.EndSilenceJSON),
	}
}
