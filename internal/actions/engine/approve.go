package engine

import (
	"context"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
)

// Approve approves a plan of somebody else, by the hash of what was shown.
func (e *Engine) Approve(ctx context.Context, by auth.Principal, plan, hash string) (Approval, error) {
	a, err := e.answerPlan(ctx, by, plan, func(p actions.Plan, a Approval) (approvalBody, error) {
		body, err := e.approval(by, p, a, hash)
		if err == nil {
			err = e.apart(ctx, by, p)
		}
		return body, err
	})
	if err != nil {
		return Approval{}, e.auditRefusal(ctx, by, auditApproveRefused, plan, map[string]string{"why": refusalReason(err)}, err)
	}
	return a, nil
}

// Refuse says that a plan must not be run. It also takes back an approval.
func (e *Engine) Refuse(ctx context.Context, by auth.Principal, plan, reason string) (Approval, error) {
	a, err := e.answerPlan(ctx, by, plan, func(p actions.Plan, a Approval) (approvalBody, error) {
		return refusal(by, a, strings.TrimSpace(reason))
	})
	if err != nil {
		return Approval{}, e.auditRefusal(ctx, by, auditApproveRefused, plan, map[string]string{"why": refusalReason(err)}, err)
	}
	return a, nil
}

// answerPlan stores what a second person says about a plan. Only the leader does, and with the same lock
// as a run of the plan, so that an answer is given before the run begins or not at all.
func (e *Engine) answerPlan(ctx context.Context, by auth.Principal, id string, answer func(actions.Plan, Approval) (approvalBody, error),
) (Approval, error) {
	if !by.May(auth.Operator) {
		return Approval{}, roleError(auth.Operator)
	}
	if err := e.opts.Journal.Writable(); err != nil {
		return Approval{}, err
	}
	t, err := e.awaitReady(ctx)
	if err != nil {
		return Approval{}, err
	}
	unlock, err := e.planLocks.lock(ctx, id)
	if err != nil {
		return Approval{}, err
	}
	defer unlock()
	p, err := e.PlanByID(ctx, id)
	if err != nil {
		return Approval{}, err
	}
	if _, err := e.RunOfPlan(ctx, id); err == nil {
		return Approval{}, fault.New(fault.Conflict, "This plan has been run already. To hold its run, stop it.")
	} else if fault.Of(err) != fault.NotFound {
		return Approval{}, err
	}
	switch {
	case !by.May(p.Role):
		return Approval{}, roleError(p.Role)
	case p.Cluster != e.clusterID():
		return Approval{}, changedError(planDifference("clusterId", p.Cluster, e.clusterID()), "This plan was made for another cluster.")
	}
	at := e.now()
	a, err := e.approvalNow(ctx, p, at)
	if err != nil {
		return Approval{}, err
	}
	body, err := answer(p, a)
	if err != nil || body.Person == "" { // nothing new
		return a, err
	}
	body.At = at
	record := store.ApprovalRecord{Plan: p.ID, Cluster: p.Cluster, State: string(Approved), Until: p.Expires}
	what := auditPlanApproved
	details := map[string]string{"hash": p.Hash, "kindOfPlan": string(p.Kind), "person": body.Person, "madeBy": p.By.ID}
	if body.Refused {
		record.State, what = string(ApprovalVoid), auditPlanRejected
		details["reason"] = body.Reason
	} else if limit := at.Add(ApprovalLasts); limit.Before(record.Until) {
		record.Until = limit
	}
	if record.Body, err = json.Marshal(body); err != nil {
		return Approval{}, fmt.Errorf("encode approval: %w", err)
	}
	saving, cancel := asLeader(t.ctx, ctx)
	defer cancel()
	if err := e.writeAudit(saving, by, what, p.ID, "ok", details); err != nil {
		return Approval{}, fmt.Errorf("record approval: %w", err)
	}
	e.expiry.track(approvalSpan(p.ID, at, record.Until).id)
	if err := e.opts.Journal.SaveApproval(saving, record); err != nil {
		return Approval{}, fmt.Errorf("save approval: %w", err)
	}
	e.subscribers.Notify()
	return e.approvalNow(ctx, p, at)
}

// approval checks that somebody may approve a plan. An empty answer means that they have done so before.
func (e *approvals) approval(by auth.Principal, p actions.Plan, a Approval, hash string) (approvalBody, error) {
	person := by.Person()
	switch {
	case person == "":
		return approvalBody{}, fault.New(fault.Forbidden, "Who you are is not known: %s. Sign in to approve.", unknownPerson(by))
	case p.By.Person() == "":
		return approvalBody{}, fault.New(fault.Forbidden, "Who made this plan is not known: %s. So nobody can approve it as somebody else.",
			unknownPerson(p.By))
	case person == p.By.Person():
		return approvalBody{}, fault.Wrap(fault.Forbidden, errSelfApproval,
			"You made this plan, with this account or with one of your tokens. Somebody else has to approve it.")
	case subtle.ConstantTimeCompare([]byte(p.Hash), []byte(hash)) != 1:
		return approvalBody{}, changedError(planDifference("hash", p.Hash, sanitize.Truncate(hash, shownOfInput)),
			"This is not the plan that was shown: its hash differs. Look at the plan again.")
	case !a.Needed:
		return approvalBody{}, fault.New(fault.Conflict, "This plan needs no approval.")
	case a.State == Approved && a.By == person:
		return approvalBody{}, nil
	case a.State == Approved:
		return approvalBody{}, fault.New(fault.Conflict, "%s has approved this plan already.", sanitize.Line(sanitize.Truncate(a.ByName, 60)))
	case a.State == ApprovalVoid:
		return approvalBody{}, fault.New(fault.Conflict, "This plan can no longer be approved. %s Make the plan again.", a.Void)
	case p.Blocked():
		return approvalBody{}, blockedError(p)
	}
	return approvalBody{Person: person, Principal: by.ID, Name: by.PersonName(), Digest: approvalDigest(p)}, nil
}

// apart checks that the maker of a plan and who approves it are two people, as far as accounts tell.
func (e *approvals) apart(ctx context.Context, by auth.Principal, p actions.Plan) error {
	if e.opts.Approval.Approvers == nil {
		return nil
	}
	why, err := e.opts.Approval.Approvers.Related(ctx, p.By.Person(), by.Person())
	if err == nil && !why.IsZero() {
		err = fault.Wrap(fault.Forbidden, errSelfApproval,
			"You and who made this plan may be one person. %s Somebody else has to approve it.", why)
	}
	return err
}

// refusal checks that somebody may refuse a plan: everybody who may run plans, so that an approval can be
// taken back when its giver is away.
func refusal(by auth.Principal, a Approval, reason string) (approvalBody, error) {
	switch {
	case reason == "":
		return approvalBody{}, fault.New(fault.Invalid, "A refusal needs a reason, which its maker sees and the audit record keeps.")
	case utf8.RuneCountInString(reason) > reasonLimit:
		return approvalBody{}, fault.New(fault.Invalid, "The reason is too long: at most %d characters.", reasonLimit)
	case !a.Needed:
		return approvalBody{}, fault.New(fault.Conflict, "This plan needs no approval, so there is none to refuse.")
	case a.State == ApprovalVoid:
		return approvalBody{}, fault.New(fault.Conflict, "This plan cannot be run any more. %s", a.Void)
	}
	person := by.Person()
	if person == "" {
		person = by.ID // to refuse, nobody has to be somebody else
	}
	return approvalBody{Person: person, Principal: by.ID, Name: by.PersonName(), Refused: true, Reason: reason}, nil
}

func unknownPerson(p auth.Principal) string {
	if p.Method == auth.ByToken {
		return "the token has no owner with an account here"
	}
	return "there is no sign-in"
}

// ApprovalRequest is a plan that waits for approval, without its steps.
type ApprovalRequest struct {
	Plan    string // id
	Kind    actions.Kind
	Summary message.Message
	By      string // principal id of the plan's maker
	ByName  string // untrusted text
	Person  string // of the maker; "": not known
	Reason  string
	Made    time.Time
	Until   time.Time
}

// AwaitingApproval lists plans of this cluster that need approval and have none, those that end first
// first. It costs nothing while no plan can need approval.
func (e *approvals) AwaitingApproval(ctx context.Context, limit int) (out []ApprovalRequest, err error) {
	if !e.opts.Approval.Rules.On() {
		return nil, nil
	}
	rows, err := e.opts.Journal.ApprovalsAsked(ctx, e.clusterID(), e.now(), limit)
	for _, r := range rows {
		a := ApprovalRequest{Summary: message.New("plan.unreadable", "unreadable: the row of this plan in the database is damaged")}
		_ = json.Unmarshal(r.Body, &a) // the plan itself says what is wrong with it
		a.Plan, a.Until = r.Plan, r.Until
		out = append(out, a)
	}
	return out, err
}

// askApproval stores that a new plan waits for approval.
func (e *approvals) askApproval(ctx context.Context, p actions.Plan) error {
	body, err := json.Marshal(ApprovalRequest{Plan: p.ID, Kind: p.Kind, Summary: p.Summary, By: p.By.ID, ByName: p.By.Name,
		Person: p.By.Person(), Reason: p.Reason, Made: p.Made, Until: p.Expires})
	if err != nil {
		return fmt.Errorf("encode request for approval: %w", err)
	}
	err = e.opts.Journal.AddApproval(ctx, store.ApprovalRecord{Plan: p.ID, Cluster: p.Cluster, State: store.ApprovalAsked, Until: p.Expires,
		Body: body})
	if err == nil {
		e.subscribers.Notify()
	}
	return err
}

// withApproval completes a plan that is being made: whether it needs approval, how long it can be run,
// and limits that keep its run from what would need it and was not seen.
func (e *approvals) withApproval(ctx context.Context, p actions.Plan) (actions.Plan, error) {
	because, covered, err := e.approvalBecause(ctx, p)
	if err != nil {
		return p, err
	}
	p.Approval = because
	if len(because) > 0 {
		p.Expires = p.Made.Add(e.opts.Approval.Wait)
	}
	recent, err := e.recentOf(ctx, p)
	if err != nil {
		return p, err
	}
	p.Draft = recent.left(e.opts.Approval.Rules).Hold(p.Draft, len(because) > 0 || !covered.IsZero())
	return p, nil
}

// withinApproval compares a plan with the one that would be made now, which sends the same commands. What
// these commands move may have grown.
func (e *approvals) withinApproval(p actions.Plan, covered bool, fresh actions.Plan) error {
	rules := e.opts.Approval.Rules
	_, was := p.Effect.Whole()
	_, is := fresh.Effect.Whole()
	switch {
	case !covered && e.coveredUndo(p):
		return nil
	case !covered:
		if now := rules.Because(p.Kind, p.UndoOf != "", fresh.Draft); len(now) > 0 {
			return changedError(nil, "This plan needs the approval of somebody else by now. %s Make the plan again.", asText(now))
		}
		return nil
	case !was.Known:
		return nil
	}
	most := max(approvedLeast, 2*(was.Value+was.PlusMinus))
	if is.Known && is.Value <= most || !is.Known && rules.Bytes <= 0 {
		return nil
	}
	got := "unknown"
	if is.Known {
		got = fmt.Sprint(is.Value)
	}
	return changedError(planDifference("limit.bytes", fmt.Sprint(most), got),
		"What this plan moves has grown beyond what was approved. Make the plan again.")
}

// coveredUndo reports whether the approval of the run that a plan undoes covers it: otherwise it would
// have needed its own when it was made.
func (e *approvals) coveredUndo(p actions.Plan) bool {
	return p.UndoOf != "" && len(p.Approval) == 0 && len(e.opts.Approval.Rules.Because(p.Kind, p.UndoOf != "", p.Draft)) > 0
}

// approvedLeast is how much an approved plan may move in any case, in bytes, as its limits say.
const approvedLeast = 64 << 20
