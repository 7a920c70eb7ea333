package web

import (
	"net/http"
	"slices"

	"shardboard/internal/api"
	"shardboard/web/changes"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var (
	paramPlan = site.InPath("id", "a plan's id, 26 letters and digits")
	paramRun  = site.InPath("id", "a run's id, 26 letters and digits")
)

// served is the route table of a configuration: where nothing can be changed
// there is no route of plans and runs at all.
func served(d site.Deps) []site.Route {
	if d.Actions != nil {
		return routes()
	}
	return slices.DeleteFunc(routes(), func(rt site.Route) bool {
		return slices.ContainsFunc(actionRoutes(), func(a site.Route) bool { return a.Method == rt.Method && a.Pattern == rt.Pattern })
	})
}

// actionRoutes are those of plans and runs.
func actionRoutes() []site.Route {
	return slices.Concat(actionPages(), actionAPI())
}

func actionPages() []site.Route {
	shown := func(pattern, summary string, p guard.Policy, h handlerFunc, params ...site.Param) site.Route {
		r := site.Fresh(site.Page(pattern, summary))
		r.Policy, r.Handler, r.Params = p, h, params
		return r
	}
	of := func(r site.Route, p site.Param) site.Route {
		r.Params = []site.Param{p}
		return r
	}
	return []site.Route{
		shown("/plans/new", "Fill in a change to plan; changes nothing", guard.PolicyOperate, changes.PageNewPlan, site.Query("kind", "what to do; its arguments may follow")),
		site.Form("/plans", guard.PolicyOperate, "Plan a change; changes nothing", changes.PostPlan, site.MediaHTML),
		shown("/plans/{id}", "What will happen, and may it?", guard.PolicyRead, changes.PagePlan, paramPlan),
		of(site.Form("/plans/{id}/run", guard.PolicyOperate, "Run a plan, once", changes.PostRunPlan, site.MediaHTML), paramPlan),
		shown("/runs", "What was changed from here?", guard.PolicyRead, changes.PageRuns,
			site.Query("state", "in this state, or open"), site.Query("kind", "of this kind"), site.Query("by", "of this principal"), site.Query("cursor", "next of the page before")),
		shown("/runs/{id}", "How far is it, and what is proven?", guard.PolicyRead, changes.PageRun, paramRun),
		of(site.Form("/runs/{id}/stop", guard.PolicyOperate, "Hold a run before its next command", changes.PostStopRun, site.MediaHTML), paramRun),
		of(site.Form("/runs/{id}/finish", guard.PolicyOperate, "Plan what is left of a run", changes.PostFinishRun, site.MediaHTML), paramRun),
		of(site.Form("/runs/{id}/undo", guard.PolicyOperate, "Plan the inverse of a run", changes.PostUndoRun, site.MediaHTML), paramRun),
	}
}

func actionAPI() []site.Route {
	route := func(method, path string, p guard.Policy, summary string, body, answer any, h func(*site.Site, http.ResponseWriter, *http.Request) error, params ...site.Param) site.Route {
		return site.Route{Method: method, Pattern: api.Prefix + path, Policy: p, Tag: site.TagAPI, Summary: summary, Params: params, Body: body, Answer: answer, Handler: h}
	}
	undo := route("POST", "/runs/{id}/undo", guard.PolicyOperate, "Plan the inverse of a run", api.PlanUndo{}, api.Plan{}, changes.ApiUndoRun, paramRun)
	undo.BodyOptional = true // its reason can be left out
	finish := route("POST", "/runs/{id}/finish", guard.PolicyOperate, "Plan what is left of a run that has ended early", api.PlanUndo{}, api.Plan{}, changes.ApiFinishRun, paramRun)
	finish.BodyOptional = true
	return []site.Route{
		site.Answering(route("POST", "/plans", guard.PolicyOperate, "Plan a change; changes nothing", api.PlanRequest{}, api.Plan{}, changes.ApiMakePlan), http.StatusCreated),
		route("GET", "/plans/{id}", guard.PolicyRead, "One plan", nil, api.Plan{}, changes.ApiPlan, paramPlan),
		site.Answering(route("POST", "/plans/{id}/run", guard.PolicyOperate, "Run a plan, once; 200 is the run that there was", api.PlanRun{}, api.Run{}, changes.ApiRunPlan, paramPlan),
			http.StatusAccepted, http.StatusOK),
		route("GET", "/runs", guard.PolicyRead, "Runs, newest first", nil, api.List[api.Run]{}, changes.ApiRuns, site.Paged()...),
		route("GET", "/runs/{id}", guard.PolicyRead, "One run", nil, api.Run{}, changes.ApiRun, paramRun),
		route("POST", "/runs/{id}/stop", guard.PolicyOperate, "Hold a run before its next command", nil, api.Run{}, changes.ApiStopRun, paramRun),
		site.Answering(undo, http.StatusCreated),
		site.Answering(finish, http.StatusCreated),
	}
}
