package changes

import (
	"context"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/store"
	"shardboard/web/guard"
	"shardboard/web/site"
)

var (
	ofPlan = []site.Param{site.InPath("id", "a plan's id, 26 letters and digits")}
	ofRun  = []site.Param{site.InPath("id", "a run's id, 26 letters and digits")}
)

// Routes of plans and runs. A server that changes nothing has none of them.
var Routes = site.Table(
	site.Page(site.Route{Pattern: "/plans/new", Summary: "Fill in a change to plan; changes nothing", Policy: guard.PolicyOperate,
		Handler: NewPlanPage,
		Params:  []site.Param{site.Query("kind", "what to do; its arguments may follow")}}),
	site.Form(site.Route{Pattern: "/plans", Summary: "Plan a change; changes nothing", Policy: guard.PolicyOperate, Handler: MakePlan,
		MaxBody: maxBatchBody}),
	site.Post(site.Route{Pattern: "/plans", Summary: "Plan a change; changes nothing", Policy: guard.PolicyOperate, Body: api.PlanRequest{},
		Answer: api.Plan{}, MaxBody: maxBatchBody,
		Status: []int{http.StatusCreated}, Handler: MakePlanJSON}),
	site.Question[api.Plan]{
		Route: site.Route{Pattern: "/plans/{id}", Summary: "What will happen, and may it?", Params: ofPlan,
			Topic: site.Topic{Kind: "plan", Of: store.IsPlanOrRunID, Draw: drawApproval}},
		Page: PlanPage, OfPage: []site.Param{site.Query("cursor", "the commands, or items of a batch, after one")}, Ask: plan, For: "One plan",
	},
	site.Change[api.PlanRun, startedRun]{
		Route: site.Route{Pattern: "/plans/{id}/run", Summary: "Run a plan, once", Policy: guard.PolicyOperate, Params: ofPlan,
			Answer: api.Run{}, Status: []int{http.StatusAccepted, http.StatusOK}},
		For: "Run a plan, once; 200 is the run that there was", Do: startPlan, Write: writeStartedRun,
		Leads:   func(_ *http.Request, run startedRun) string { return "/runs/" + run.ID },
		Refused: refusePlan[api.PlanRun],
	},
	onPlan(site.Route{Pattern: "/plans/{id}/approve", Summary: "Approve a plan of somebody else"}, approve),
	onPlan(site.Route{Pattern: "/plans/{id}/refuse", Summary: "Refuse a plan that waits for approval, or take an approval back"},
		refuseApproval),

	site.Question[api.List[api.WaitingPlan]]{
		Route: site.Route{Pattern: "/approvals", Summary: "Which plans wait for the approval of a second person?"},
		Ask:   approvals, For: "Plans that wait for approval, those that end first first", OfData: site.Paged(),
	},

	site.Question[api.List[api.Run]]{
		Route: site.Route{Pattern: "/runs", Summary: "What was changed from here?"},
		Page:  RunsPage, OfPage: site.Takes[changing.RunsQuery](),
		Ask: runs, For: "Runs, newest first", OfData: site.Takes[changing.RunsListQuery](),
	},
	site.Question[api.Run]{
		Route: site.Route{Pattern: "/runs/{id}", Summary: "How far is it, and what is proven?", Params: ofRun,
			Topic: site.Topic{Kind: "run", Of: store.IsPlanOrRunID, Draw: drawRun}},
		Page: RunPage, OfPage: []site.Param{site.Query("cursor", "of a batch: the items after one")}, Ask: run, For: "One run",
	},
	site.Question[api.List[api.BatchItem]]{
		Route: site.Route{Pattern: "/runs/{id}/items", Summary: "What became of the items of a batch?", Params: ofRun},
		Ask:   items, For: "Items of a batch, by number", OfData: site.Takes[itemsQuery](),
	},
	onRun(site.Route{Pattern: "/runs/{id}/pause", Summary: "Pause a batch before its next item"}, pauseRun),
	onRun(site.Route{Pattern: "/runs/{id}/resume", Summary: "Let a batch go on, or decide about an item", BodyOptional: true}, resumeRun),
	onRun(site.Route{Pattern: "/runs/{id}/stop", Summary: "Hold a run before its next command"}, stopRun),
	afterRun(site.Route{Pattern: "/runs/{id}/finish", Summary: "Plan what is left of a run that has ended early"}, engine.Service.Finish),
	afterRun(site.Route{Pattern: "/runs/{id}/undo", Summary: "Plan the inverse of a run"}, engine.Service.Undo),
)

// drawRun draws a run for all who look at it. It reads the run itself: no table
// has it.
func drawRun(ctx context.Context, s *site.Site, v answer.View, id string) (templ.Component, error) {
	run, err := s.Deps.Changes.Actions.RunByID(ctx, id)
	if err != nil {
		return nil, err
	}
	return runRegion(regionOf(ctx, s, v, run)), nil
}
