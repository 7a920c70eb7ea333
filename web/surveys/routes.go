package surveys

import (
	"net/http"

	"shardboard/internal/api"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var ofSurvey = []site.Param{site.InPath("survey", "a survey's id")}

// Routes of the background measurements. A survey costs the cluster reads, so an
// operator starts and stops it.
var Routes = site.Table(
	site.Question[api.List[api.Survey]]{
		Route: site.Route{Pattern: "/surveys", Summary: "Running and finished surveys", Time: site.NowOnly},
		Page:  ListPage, Ask: list, For: "Surveys, newest first",
	},
	site.Question[api.SurveyDetail]{
		Route: site.Route{Pattern: "/surveys/{survey}", Summary: "What did a survey find?", Params: ofSurvey, Time: site.NowOnly},
		Page:  Page, Ask: results, For: "One survey with what it found",
	},
	site.Form(site.Route{Pattern: "/surveys", Summary: "Start a survey; reads only", Policy: guard.PolicyOperate, Handler: StartForm}),
	site.Form(site.Route{Pattern: "/surveys/{survey}/stop", Summary: "Stop a survey; what it measured stays", Policy: guard.PolicyOperate,
		Params: ofSurvey, Handler: StopForm}),

	site.Post(site.Route{Pattern: "/surveys", Summary: "Start a survey: projects, project or document", Policy: guard.PolicyOperate,
		Body: api.SurveyStart{}, Answer: api.Survey{}, Status: []int{http.StatusAccepted}, Handler: StartJSON}),
	site.Post(site.Route{Pattern: "/surveys/{survey}/stop", Summary: "Stop a survey; what it measured stays", Policy: guard.PolicyOperate,
		Params: ofSurvey,
		Answer: api.Survey{}, Handler: StopJSON}),
)
