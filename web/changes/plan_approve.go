package changes

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// onPlan is what a person does to a plan of somebody else, and leads back to it.
func onPlan[In any](
	rt site.Route, do func(context.Context, engine.Service, auth.Principal, string, In) error,
) site.Change[In, actions.Plan] {
	rt.Policy, rt.Params, rt.Answer = guard.PolicyOperate, ofPlan, api.Plan{}
	return site.Change[In, actions.Plan]{
		Route: rt,
		Do: func(s *site.Site, r *http.Request, in In) (actions.Plan, error) {
			id, err := recordID(r)
			if err == nil {
				err = do(r.Context(), s.Deps.Changes.Actions, auth.From(r.Context()), id, in)
			}
			if err != nil {
				return actions.Plan{}, err
			}
			return s.Deps.Changes.Actions.PlanByID(r.Context(), id)
		},
		Write: func(s *site.Site, w http.ResponseWriter, r *http.Request, p actions.Plan) error {
			return writePlanJSON(s, w, r, http.StatusOK, p)
		},
		Leads:   func(_ *http.Request, p actions.Plan) string { return "/plans/" + p.ID },
		Refused: refusePlan[In],
	}
}

// approve approves a plan.
func approve(ctx context.Context, all engine.Service, by auth.Principal, id string, in api.PlanApprove) error {
	_, err := all.Approve(ctx, by, id, in.Hash)
	return err
}

// refuseApproval refuses a plan, or takes an approval back.
func refuseApproval(ctx context.Context, all engine.Service, by auth.Principal, id string, in api.PlanRefuse) error {
	_, err := all.Refuse(ctx, by, id, in.Reason)
	return err
}

// refusePlan shows a plan with why what was asked of it was refused.
func refusePlan[In any](s *site.Site, w http.ResponseWriter, r *http.Request, _ In, err error) error {
	p, gone := planOf(s, r)
	if gone != nil || fault.Of(err) == fault.Internal {
		return err
	}
	status := fault.Of(err).HTTPStatus()
	var blocked *engine.BlockedError
	if errors.As(err, &blocked) {
		status = http.StatusUnprocessableEntity
	}
	return writePlan(s, w, r, status, p, err)
}

// approvals is a part of the plans that wait for approval.
func approvals(s *site.Site, r *http.Request) (out api.List[api.WaitingPlan], err error) {
	v, who := s.ViewFor(r), auth.From(r.Context())
	if v.Table.ClusterID == "" { // plans are stored with the id of their cluster
		if err := v.Table.NotLoaded(); err != nil {
			return out, err
		}
	}
	list, err := changing.ApprovalsAsked(r.Context(), v, s.Deps.Changes.Actions, api.MaxLimit)
	if err != nil {
		return out, err
	}
	key := func(w engine.ApprovalRequest) string {
		return w.Until.UTC().Format("20060102150405.000000000 ") + w.Plan
	}
	out, err = site.PageOf(r, list, key, func(w engine.ApprovalRequest) api.WaitingPlan { return changing.WaitingPlanOf(v, who, w) })
	out.AsOf = s.Deps.Now()
	return out, err
}

// drawApproval draws how far the approval of a plan is, for all who look at it.
func drawApproval(ctx context.Context, s *site.Site, v answer.View, id string) (templ.Component, error) {
	p, err := s.Deps.Changes.Actions.PlanByID(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := s.Deps.Changes.Actions.ApprovalOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return approvalRegion(approvalShown{ID: id, PlanApproval: changing.ApprovalOf(a), sentences: templates.SentencesOf(v)}), nil
}
