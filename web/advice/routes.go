package advice

import (
	"net/http"

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

var (
	paramFrom = site.Query("from", "RFC 3339 or milliseconds since 1970; default 30 days before to, of a post-mortem an hour")
	paramTo   = site.Query("to", "likewise; default now")
)

var ofAdvice = []site.Param{site.InPath("id", "an advice's id")}

// Routes of problems and alerts.
var Routes = site.Table(
	site.Question[api.AdviceList]{
		Route: site.Route{Pattern: "/advice", Summary: "Which problems are there, and what helps?", Time: site.NowOnly,
			Params: []site.Param{site.Query("rule", "those of one rule, one by one")}},
		Page: Page, Ask: problemList, For: "Problems, greatest first, and what could not be checked",
	},
	site.Question[api.PastProblems]{
		Route: site.Route{Pattern: "/advice/past", Summary: "Which problems were there?", Params: []site.Param{site.Last, paramFrom, paramTo,
			site.Query("rule", "of this rule"), site.Query("shard", "about this shard")}},
		Page: PastPage, Ask: past, For: "Problems of the last 30 days, the newest begin first",
		OfPage: []site.Param{site.Query("cursor", "from here on")},
		OfData: site.Paged(),
	},
	site.Question[api.Postmortem]{
		Route: site.Route{Pattern: "/postmortem", Summary: "What was wrong in a time, what was done, and what did that change?",
			Params: []site.Param{site.Last, paramFrom, paramTo}},
		Page: PostmortemPage, Ask: postmortemOf,
	},
	site.Page(site.Route{Pattern: "/postmortem.md", Summary: "A post-mortem as Markdown", Types: []string{site.MediaMarkdown},
		Params: []site.Param{site.Last, paramFrom, paramTo}, Handler: PostmortemMarkdown}),
	site.Page(site.Route{Pattern: "/advice/{id}/plan", Summary: "Leads to the filled-in form of the plan that helps with a problem",
		Params: ofAdvice, Handler: FirstPlan, Status: []int{http.StatusSeeOther}, Time: site.NowOnly}),
	site.Form(site.Route{Pattern: "/advice/dismiss", Summary: "Dismiss a problem with a reason", Policy: dismissPolicy, Handler: Dismiss}),
	site.Form(site.Route{Pattern: "/advice/take", Summary: "Tell everybody that you deal with a problem", Policy: dismissPolicy,
		Handler: Take}),
	site.Form(site.Route{Pattern: "/advice/leave", Summary: "Leave a problem to others", Policy: dismissPolicy, Handler: Leave}),
	site.Post(site.Route{Pattern: "/advice/{id}/take", Summary: "Tell everybody that you deal with a problem; the note may be empty",
		Policy: dismissPolicy, Params: ofAdvice, Body: api.TakeNote{}, Answer: api.AdviceList{}, Handler: TakeJSON}),
	site.Post(site.Route{Pattern: "/advice/{id}/leave", Summary: "Leave a problem to others", Policy: dismissPolicy, Params: ofAdvice,
		Answer: api.AdviceList{}, Handler: LeaveJSON}),
	site.Form(site.Route{Pattern: "/advice/restore", Summary: "Undo a dismissal", Policy: dismissPolicy, Handler: Restore}),
	site.Post(site.Route{Pattern: "/advice/{id}/dismiss", Summary: "Dismiss a problem; the reason is required", Policy: dismissPolicy,
		Params: ofAdvice,
		Body:   api.Reason{}, Answer: api.AdviceList{}, Handler: DismissJSON}),
	site.Post(site.Route{Pattern: "/advice/{id}/restore", Summary: "Undo a dismissal", Policy: dismissPolicy, Params: ofAdvice,
		Answer: api.AdviceList{}, Handler: RestoreJSON}),

	site.Question[api.Alerts]{
		Route: site.Route{Pattern: "/alerts", Summary: "Which alerts were sent, and to whom?", Time: site.NowOnly},
		Page:  AlertsPage, Ask: alerts, For: "Alerts, receivers and silences",
	},
	site.Form(site.Route{Pattern: "/alerts/test", Summary: "Send a test message to one receiver", Policy: alertPolicy,
		Handler: TestReceiver}),
	site.Form(site.Route{Pattern: "/alerts/silences", Summary: "Suppress an alert, or a rule's alerts, for a while",
		Policy: alertPolicy, Handler: Silence}),
	site.Form(site.Route{Pattern: "/alerts/silences/end", Summary: "End a silence", Policy: alertPolicy, Handler: EndSilence}),
	site.Post(site.Route{Pattern: "/alerts/test", Summary: "Send a test message to one receiver", Policy: alertPolicy, Body: api.AlertTest{},
		Answer: api.Alerts{}, Handler: TestReceiverJSON}),
	site.Post(site.Route{Pattern: "/alerts/silences", Summary: "Begin a silence", Policy: alertPolicy, Body: api.SilenceStart{},
		Answer: api.Alerts{}, Handler: SilenceJSON}),
	site.Post(site.Route{Pattern: "/alerts/silences/end", Summary: "End a silence", Policy: alertPolicy, Body: api.SilenceEnd{},
		Answer: api.Alerts{}, Handler: EndSilenceJSON}),
)
