package relay

import (
	"context"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
)

// What is asked about approvals.
const (
	approvePlan = "plan.approve"
	refusePlan  = "plan.refuse"
)

type approveBody struct{ Plan, Hash string }

type refuseBody struct{ Plan, Reason string }

func handleApprovals(r *Relay, s engine.Service) {
	handle(r, approvePlan, func(ctx context.Context, by auth.Principal, b approveBody) (any, error) {
		return s.Approve(ctx, by, b.Plan, b.Hash)
	})
	handle(r, refusePlan, func(ctx context.Context, by auth.Principal, b refuseBody) (any, error) {
		return s.Refuse(ctx, by, b.Plan, b.Reason)
	})
}

// Approve approves a plan, here or at the leader.
func (s *Runs) Approve(ctx context.Context, by auth.Principal, plan, hash string) (engine.Approval, error) {
	if !s.relay.follows() {
		a, err := s.Service.Approve(ctx, by, plan, hash)
		if !s.relay.mustAsk(err) {
			return a, err
		}
	}
	return s.askApproval(ctx, approvePlan, by, approveBody{plan, hash})
}

// Refuse refuses a plan, here or at the leader.
func (s *Runs) Refuse(ctx context.Context, by auth.Principal, plan, reason string) (engine.Approval, error) {
	if !s.relay.follows() {
		a, err := s.Service.Refuse(ctx, by, plan, reason)
		if !s.relay.mustAsk(err) {
			return a, err
		}
	}
	return s.askApproval(ctx, refusePlan, by, refuseBody{plan, reason})
}

// approvalLost is said also when the leader is gone: it may have stored the answer before.
const approvalLost = "It is not known whether this was stored: the shardboard that leads has not answered. Look at the plan again."

func (s *Runs) askApproval(ctx context.Context, what string, by auth.Principal, body any) (a engine.Approval, err error) {
	err = s.relay.ask(ctx, what, by, body, &a)
	if lost, is := asLost(err); is {
		err = lost.unknown(approvalLost, approvalLost)
	}
	return a, err
}
