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
	site.Change[api.SurveyStart, api.Survey]{
		Route: site.Route{Pattern: "/surveys", Summary: "Start a survey; reads only", Policy: guard.PolicyOperate,
			Status: []int{http.StatusAccepted}},
		For: "Start a survey: projects, project or document", Do: start, Leads: toList,
		Write: func(_ *site.Site, w http.ResponseWriter, _ *http.Request, one api.Survey) error {
			w.Header().Set("Location", api.Prefix+"/surveys/"+one.ID)
			return site.WriteJSON(w, http.StatusAccepted, one)
		},
	},
	site.Change[struct{}, api.Survey]{
		Route: site.Route{Pattern: "/surveys/{survey}/stop", Summary: "Stop a survey; what it measured stays",
			Policy: guard.PolicyOperate, Params: ofSurvey},
		Do: stop, Leads: toList,
	},
)
