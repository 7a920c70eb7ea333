package web

import (
	"net/http"
	"slices"

	"shardboard/internal/api"
)

var (
	paramPlan = inPath("id", "a plan's id, 26 letters and digits")
	paramRun  = inPath("id", "a run's id, 26 letters and digits")
)

// served is the route table of a configuration: where nothing can be changed
// there is no route of plans and runs at all.
func served(d Deps) []Route {
	if d.Actions != nil {
		return routes()
	}
	return slices.DeleteFunc(routes(), func(rt Route) bool {
		return slices.ContainsFunc(actionRoutes(), func(a Route) bool { return a.Method == rt.Method && a.Pattern == rt.Pattern })
	})
}

// actionRoutes are those of plans and runs.
func actionRoutes() []Route {
	return slices.Concat(actionPages(), actionAPI())
}

func actionPages() []Route {
	shown := func(pattern, summary string, p Policy, h handlerFunc, params ...Param) Route {
		r := fresh(page(pattern, summary))
		r.Policy, r.handler, r.Params = p, h, params
		return r
	}
	of := func(r Route, p Param) Route {
		r.Params = []Param{p}
		return r
	}
	return []Route{
		shown("/plans/new", "Fill in a change to plan; changes nothing", PolicyOperate, (*Site).pageNewPlan, query("kind", "what to do; its arguments may follow")),
		form("/plans", PolicyOperate, "Plan a change; changes nothing", (*Site).postPlan, mediaHTML),
		shown("/plans/{id}", "What will happen, and may it?", PolicyRead, (*Site).pagePlan, paramPlan),
		of(form("/plans/{id}/run", PolicyOperate, "Run a plan, once", (*Site).postRunPlan, mediaHTML), paramPlan),
		shown("/runs", "What was changed from here?", PolicyRead, (*Site).pageRuns,
			query("state", "in this state, or open"), query("kind", "of this kind"), query("by", "of this principal"), query("cursor", "next of the page before")),
		shown("/runs/{id}", "How far is it, and what is proven?", PolicyRead, (*Site).pageRun, paramRun),
		of(form("/runs/{id}/stop", PolicyOperate, "Hold a run before its next command", (*Site).postStopRun, mediaHTML), paramRun),
		of(form("/runs/{id}/finish", PolicyOperate, "Plan what is left of a run", (*Site).postFinishRun, mediaHTML), paramRun),
		of(form("/runs/{id}/undo", PolicyOperate, "Plan the inverse of a run", (*Site).postUndoRun, mediaHTML), paramRun),
	}
}

func actionAPI() []Route {
	route := func(method, path string, p Policy, summary string, body, answer any, h func(*Site, http.ResponseWriter, *http.Request) error, params ...Param) Route {
		return Route{Method: method, Pattern: api.Prefix + path, Policy: p, Tag: tagAPI, Summary: summary, Params: params, Body: body, Answer: answer, handler: h}
	}
	undo := route("POST", "/runs/{id}/undo", PolicyOperate, "Plan the inverse of a run", api.PlanUndo{}, api.Plan{}, (*Site).apiUndoRun, paramRun)
	undo.BodyOptional = true // its reason can be left out
	finish := route("POST", "/runs/{id}/finish", PolicyOperate, "Plan what is left of a run that has ended early", api.PlanUndo{}, api.Plan{}, (*Site).apiFinishRun, paramRun)
	finish.BodyOptional = true
	return []Route{
		answering(route("POST", "/plans", PolicyOperate, "Plan a change; changes nothing", api.PlanRequest{}, api.Plan{}, (*Site).apiMakePlan), http.StatusCreated),
		route("GET", "/plans/{id}", PolicyRead, "One plan", nil, api.Plan{}, (*Site).apiPlan, paramPlan),
		answering(route("POST", "/plans/{id}/run", PolicyOperate, "Run a plan, once; 200 is the run that there was", api.PlanRun{}, api.Run{}, (*Site).apiRunPlan, paramPlan),
			http.StatusAccepted, http.StatusOK),
		route("GET", "/runs", PolicyRead, "Runs, newest first", nil, api.List[api.Run]{}, (*Site).apiRuns, paged()...),
		route("GET", "/runs/{id}", PolicyRead, "One run", nil, api.Run{}, (*Site).apiRun, paramRun),
		route("POST", "/runs/{id}/stop", PolicyOperate, "Hold a run before its next command", nil, api.Run{}, (*Site).apiStopRun, paramRun),
		answering(undo, http.StatusCreated),
		answering(finish, http.StatusCreated),
	}
}
