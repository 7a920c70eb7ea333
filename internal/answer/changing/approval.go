package changing

import (
	"cmp"
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
)

// PlanWithApproval is a plan with what a second person says about it.
func PlanWithApproval(ctx context.Context, v answer.View, kept engine.Service, p actions.Plan) (api.Plan, error) {
	out := PlanOf(v, p)
	a, err := kept.ApprovalOf(ctx, p)
	if err != nil {
		return out, err
	}
	out.Approval = ApprovalOf(a)
	return out, nil
}

// ApprovalOf is the state of an approval.
func ApprovalOf(a engine.Approval) api.PlanApproval {
	return api.PlanApproval{Needed: a.Needed, Because: answer.Map(a.Because, api.Timeless), State: string(a.State),
		By: a.By, ByName: sanitize.Truncate(a.ByName, 60), At: api.Time(a.At), ExpiresAt: api.Time(a.Expires), Void: api.Timeless(a.Void),
		Covered: api.Timeless(a.Covered)}
}

// ApprovalText says in a sentence how far the approval of a plan is; "" if none is needed.
func ApprovalText(a api.PlanApproval) string {
	by := answer.PersonText(cmp.Or(a.ByName, a.By))
	switch engine.ApprovalState(a.State) {
	case engine.ApprovalAsked:
		return "Waits for the approval of somebody else."
	case engine.Approved:
		text := "Approved by " + by
		if a.At != nil {
			text += " at " + format.Clock(*a.At)
		}
		if a.ExpiresAt != nil {
			text += "; counts until " + format.Clock(*a.ExpiresAt)
		}
		return text + "."
	case engine.ApprovalVoid:
		return "The approval does not count. " + a.Void.String()
	}
	return a.Covered.String()
}

// ApprovalMay is what somebody may say about a plan.
type ApprovalMay struct {
	Approve, Refuse bool
}

// ApprovalMayOf tells what somebody may say about a plan. readOnly is why nothing can be changed at all.
func ApprovalMayOf(p api.Plan, maker, who auth.Principal, readOnly string, now time.Time) ApprovalMay {
	state := engine.ApprovalState(p.Approval.State)
	if readOnly != "" || !who.May(auth.Operator) || !who.May(auth.Role(p.Role)) || !p.Approval.Needed || Expired(p, now) {
		return ApprovalMay{}
	}
	return ApprovalMay{
		Approve: state == engine.ApprovalAsked && !p.Blocked && who.Person() != "" && maker.Person() != "" && who.Person() != maker.Person(),
		Refuse:  state == engine.ApprovalAsked || state == engine.Approved,
	}
}

// RunsAfterApproval says to whoever can approve a plan who runs it.
func RunsAfterApproval(p api.Plan) string {
	return "Once it is approved, " + answer.PersonText(cmp.Or(p.ByName, p.By)) + ", who made it, can run it."
}

// WaitingPlan is a plan that nobody has approved yet, for pages.
type WaitingPlan struct {
	ID, Title, By, Reason string
	Until                 time.Time
	Yours                 bool // for the approval of the reader
}

// ApprovalsAsked are plans that nobody has approved yet, those that end first first.
func ApprovalsAsked(ctx context.Context, v answer.View, kept engine.Service, limit int) ([]engine.ApprovalRequest, error) {
	list, err := kept.AwaitingApproval(ctx, limit)
	if v.Table.Hiding() != nil {
		for i := range list {
			list[i].Summary = answer.HideInMessage(list[i].Summary)
		}
	}
	return list, err
}

// WaitingPlanOf is a plan that waits, as who asks may see it.
func WaitingPlanOf(v answer.View, who auth.Principal, r engine.ApprovalRequest) api.WaitingPlan {
	return api.WaitingPlan{ID: r.Plan, Kind: string(r.Kind), Summary: v.Named(r.Summary).String(), By: r.By,
		ByName: sanitize.Truncate(r.ByName, 60), Reason: sanitize.Sentence(r.Reason), MadeAt: api.Time(r.Made), ExpiresAt: api.Time(r.Until),
		ForYou: mayApprove(who, r)}
}

// mayApprove reports whether somebody can approve a plan that waits, as far as its request says.
func mayApprove(who auth.Principal, r engine.ApprovalRequest) bool {
	return who.May(auth.Operator) && who.Person() != "" && r.Person != "" && who.Person() != r.Person
}

// waitingShown bounds the plans that a page lists as waiting.
const waitingShown = 20

// WaitingPlans are plans that nobody has approved yet, those that end first first.
func WaitingPlans(ctx context.Context, v answer.View, kept engine.Service, who auth.Principal) (out []WaitingPlan, err error) {
	list, err := ApprovalsAsked(ctx, v, kept, waitingShown)
	for _, r := range list {
		out = append(out, WaitingPlan{ID: r.Plan, Title: changeHeading(v.Named(r.Summary)).String(),
			By:     answer.PersonText(cmp.Or(r.ByName, r.By)),
			Reason: sanitize.Truncate(sanitize.Sentence(r.Reason), 120), Until: r.Until,
			Yours: mayApprove(who, r)})
	}
	return out, err
}
