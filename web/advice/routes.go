package advice

import (
	"net/http"
	"time"

	"shardboard/internal/answer/postmortem"
	"shardboard/internal/answer/problems"
	"shardboard/internal/api"
	"shardboard/internal/rules"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// Operators dismiss problems. Silences and test messages are for an admin: they
// concern other systems.
const (
	dismissPolicy = guard.PolicyOperate
	alertPolicy   = guard.PolicyAdmin
)

// ofPostmortem is the time of a post-mortem.
var ofPostmortem = site.Described(postmortem.Parameters(new(time.Time), new(time.Time), time.Time{}))

var ofAdvice = []site.Param{site.InPath("id", "an advice's id")}

// Routes of problems and alerts.
var Routes = site.Table(
	site.Question[api.AdviceList]{
		Route: site.Route{Pattern: "/advice", Summary: "Which problems are there, and what helps?", Time: site.NowOnly,
			Params: []site.Param{site.Query("rule", "those of one rule, one by one")}},
		Page: Page, Ask: problemList, For: "Problems, greatest first, and what could not be checked",
	},
	site.Question[api.PastProblems]{
		Route: site.Route{Pattern: "/advice/past", Summary: "Which problems were there?",
			Params: site.Described(new(problems.PastProblemsQuery).Parameters(time.Time{}))},
		Page: PastPage, Ask: past, For: "Problems of the last 30 days, the newest begin first",
	},
	site.Question[api.Postmortem]{
		Route: site.Route{Pattern: "/postmortem", Summary: "What was wrong in a time, what was done, and what did that change?",
			Params: ofPostmortem},
		Page: PostmortemPage, Ask: postmortemOf,
	},
	site.Page(site.Route{Pattern: "/postmortem.md", Summary: "A post-mortem as Markdown", Types: []string{site.MediaMarkdown},
		Params: ofPostmortem, Handler: PostmortemMarkdown}),
	site.Page(site.Route{Pattern: "/advice/{id}/plan", Summary: "Leads to the filled-in form of the plan that helps with a problem",
		Params: ofAdvice, Handler: FirstPlan, Status: []int{http.StatusSeeOther}, Time: site.NowOnly}),
	onProblem("dismiss", "Dismiss a problem with a reason", "Dismiss a problem; the reason is required",
		func(in api.Reason) string { return in.Reason },
		func(on *rules.Advisor, r *http.Request, id, reason string) error {
			return on.Dismiss(r.Context(), id, reason, site.AuditEntry(r))
		}),
	onProblem("restore", "Undo a dismissal", "", nothing,
		func(on *rules.Advisor, r *http.Request, id, _ string) error {
			return on.Restore(r.Context(), id, site.AuditEntry(r))
		}),
	onProblem("take", "Tell everybody that you deal with a problem",
		"Tell everybody that you deal with a problem; the note may be empty",
		func(in api.TakeNote) string { return in.Note },
		func(on *rules.Advisor, r *http.Request, id, note string) error {
			return on.Take(r.Context(), id, note, site.AuditEntry(r))
		}),
	onProblem("leave", "Leave a problem to others", "", nothing,
		func(on *rules.Advisor, r *http.Request, id, _ string) error {
			return on.Leave(r.Context(), id, site.AuditEntry(r))
		}),

	site.Question[api.Alerts]{
		Route: site.Route{Pattern: "/alerts", Summary: "Which alerts were sent, and to whom?", Time: site.NowOnly},
		Page:  AlertsPage, Ask: alerts, For: "Alerts, receivers and silences",
	},
	onAlerts(site.Route{Pattern: "/alerts/test", Summary: "Send a test message to one receiver"}, "", testReceiver),
	onAlerts(site.Route{Pattern: "/alerts/silences", Summary: "Suppress an alert, or a rule's alerts, for a while"}, "Begin a silence",
		silence),
	onAlerts(site.Route{Pattern: "/alerts/silences/end", Summary: "End a silence"}, "", endSilence),
)

func nothing(struct{}) string { return "" }
