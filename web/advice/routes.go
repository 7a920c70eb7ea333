package advice

import (
	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// Operators dismiss problems. Silences and test messages are for an admin: they
// concern other systems.
const (
	dismissPolicy = guard.PolicyOperate
	alertPolicy   = guard.PolicyAdmin
)

var ofAdvice = []site.Param{site.InPath("id", "an advice's id")}

// Routes of problems and alerts.
var Routes = []site.Route{
	site.Page(site.Route{Pattern: "/advice", Summary: "Which problems are there, and what helps?", Handler: PageAdvice, Time: site.NowOnly}),
	site.Form(site.Route{Pattern: "/advice/dismiss", Summary: "Dismiss a problem with a reason", Policy: dismissPolicy, Handler: PostDismiss}),
	site.Form(site.Route{Pattern: "/advice/restore", Summary: "Take a dismissal back", Policy: dismissPolicy, Handler: PostRestore}),
	site.Get(site.Route{Pattern: "/advice", Summary: "Problems, greatest first, and what could not be checked", Answer: api.AdviceList{},
		Handler: ApiAdvice, Time: site.NowOnly}),
	site.Post(site.Route{Pattern: "/advice/{id}/dismiss", Summary: "Dismiss a problem; the reason is required", Policy: dismissPolicy,
		Params: ofAdvice,
		Body:   api.Reason{}, Answer: api.AdviceList{}, Handler: ApiDismiss}),
	site.Post(site.Route{Pattern: "/advice/{id}/restore", Summary: "Take a dismissal back", Policy: dismissPolicy, Params: ofAdvice,
		Answer: api.AdviceList{}, Handler: ApiRestore}),

	site.Page(site.Route{Pattern: "/alerts", Summary: "Which alerts were sent, and to whom?", Handler: PageAlerts, Time: site.NowOnly}),
	site.Form(site.Route{Pattern: "/alerts/test", Summary: "Send a test message to one receiver", Policy: alertPolicy,
		Handler: PostAlertTest}),
	site.Form(site.Route{Pattern: "/alerts/silences", Summary: "Keep an alert or a rule's alerts from being told for a while",
		Policy: alertPolicy, Handler: PostSilence}),
	site.Form(site.Route{Pattern: "/alerts/silences/end", Summary: "End a silence", Policy: alertPolicy, Handler: PostEndSilence}),
	site.Get(site.Route{Pattern: "/alerts", Summary: "Alerts, receivers and silences", Answer: api.Alerts{}, Handler: ApiAlerts,
		Time: site.NowOnly}),
	site.Post(site.Route{Pattern: "/alerts/test", Summary: "Send a test message to one receiver", Policy: alertPolicy, Body: api.AlertTest{},
		Answer: api.Alerts{}, Handler: ApiAlertTest}),
	site.Post(site.Route{Pattern: "/alerts/silences", Summary: "Begin a silence", Policy: alertPolicy, Body: api.SilenceStart{},
		Answer: api.Alerts{}, Handler: ApiSilence}),
	site.Post(site.Route{Pattern: "/alerts/silences/end", Summary: "End a silence", Policy: alertPolicy, Body: api.SilenceEnd{},
		Answer: api.Alerts{}, Handler: ApiEndSilence}),
}
