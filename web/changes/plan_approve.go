package changes

import (
	"context"
	"errors"
	"net/http"

	"github.com/a-h/templ"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// ApprovePlan approves a plan of somebody else and shows it again.
func ApprovePlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return answerPlan(s, w, r, func(ctx context.Context, by auth.Principal, id string) error {
		_, err := s.Deps.Actions.Approve(ctx, by, id, r.PostForm.Get("hash"))
		return err
	})
}

// RefusePlan refuses a plan, or takes an approval back, and shows the plan again.
func RefusePlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return answerPlan(s, w, r, func(ctx context.Context, by auth.Principal, id string) error {
		_, err := s.Deps.Actions.Refuse(ctx, by, id, r.PostForm.Get("reason"))
		return err
	})
}

// answerPlan does what a form about a plan asks for. A refusal is shown on the plan's page.
func answerPlan(s *site.Site, w http.ResponseWriter, r *http.Request, do func(context.Context, auth.Principal, string) error) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	if err = do(r.Context(), auth.From(r.Context()), id); err == nil {
		site.SeeOther(w, "/plans/"+id)
		return nil
	}
	p, gone := s.Deps.Actions.PlanByID(r.Context(), id)
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
	list, err := changing.ApprovalsAsked(r.Context(), v, s.Deps.Actions, api.MaxLimit)
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

// ApprovePlanJSON approves a plan of somebody else.
func ApprovePlanJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	var in api.PlanApprove
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	if _, err := s.Deps.Actions.Approve(r.Context(), auth.From(r.Context()), id, in.Hash); err != nil {
		return err
	}
	return writeAnsweredPlan(s, w, r, id)
}

// RefusePlanJSON refuses a plan, or takes an approval back.
func RefusePlanJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	var in api.PlanRefuse
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	if _, err := s.Deps.Actions.Refuse(r.Context(), auth.From(r.Context()), id, in.Reason); err != nil {
		return err
	}
	return writeAnsweredPlan(s, w, r, id)
}

func writeAnsweredPlan(s *site.Site, w http.ResponseWriter, r *http.Request, id string) error {
	p, err := s.Deps.Actions.PlanByID(r.Context(), id)
	if err != nil {
		return err
	}
	out, err := changing.PlanWithApproval(r.Context(), s.ViewFor(r), s.Deps.Actions, p)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

// drawApproval draws how far the approval of a plan is, for all who look at it.
func drawApproval(ctx context.Context, s *site.Site, v answer.View, id string) (templ.Component, error) {
	p, err := s.Deps.Actions.PlanByID(ctx, id)
	if err != nil {
		return nil, err
	}
	a, err := s.Deps.Actions.ApprovalOf(ctx, p)
	if err != nil {
		return nil, err
	}
	return approvalRegion(approvalShown{ID: id, PlanApproval: changing.ApprovalOf(a), sentences: templates.SentencesOf(v)}), nil
}
