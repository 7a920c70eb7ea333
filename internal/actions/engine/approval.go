package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/auth"
	"shardboard/internal/clock"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/store"
)

const (
	// ApprovalLasts is how long an approval counts.
	ApprovalLasts = time.Hour
	// ApprovalWait is how long a plan that needs approval can be run, unless the options say otherwise.
	ApprovalWait = 4 * time.Hour
	// MaxApprovalWait is the most that the options may say.
	MaxApprovalWait = 24 * time.Hour
	// approvalCoversUndo is how long after its end an approved run can be undone without another approval.
	approvalCoversUndo = 24 * time.Hour
)

// ApprovalState is how far the approval of a plan is.
type ApprovalState string

// The states of an approval.
const (
	ApprovalNone  ApprovalState = "none"  // none is needed
	ApprovalAsked ApprovalState = "asked" // nobody has answered
	Approved      ApprovalState = "approved"
	ApprovalVoid  ApprovalState = "void" // it does not count, and the plan cannot get another one
)

// Approval is what a second person says about a plan.
type Approval struct {
	Needed  bool
	Because []message.Message // why it is needed
	State   ApprovalState
	By      string // person who approved or refused
	ByName  string // untrusted text
	At      time.Time
	Expires time.Time       // asked: until when somebody can approve; approved: until when it counts
	Void    message.Message // why it does not count
	// Covered says which approval covers a plan that needs none of its own, such as an undo.
	Covered message.Message
}

// approvalBody is the stored form of an answer.
type approvalBody struct {
	Person    string // auth.Principal.Person of who answered
	Principal string
	Name      string
	At        time.Time
	Digest    string // of what was approved
	Refused   bool   `json:",omitempty"`
	Reason    string `json:",omitempty"` // of a refusal
}

// RunApproval is the approval with which a run was started.
type RunApproval struct {
	By     string // person
	ByName string // untrusted text
	At     time.Time
}

// ApprovalOf returns the state of a plan's approval. It reads the store.
func (e *Engine) ApprovalOf(ctx context.Context, p actions.Plan) (Approval, error) {
	run, err := e.RunOfPlan(ctx, p.ID)
	if err != nil && fault.Of(err) != fault.NotFound {
		return Approval{}, err
	}
	a, err := e.approvalNow(ctx, p, e.now())
	if u := run.Approval; err == nil && u != nil { // it was used, so it does not expire any more
		a.Needed, a.State, a.By, a.ByName, a.At, a.Expires, a.Void = true, Approved, u.By, u.ByName, u.At, time.Time{}, message.Message{}
	}
	return a, err
}

// approvalNow is the state of the approval of a plan that has no run.
func (e *approvals) approvalNow(ctx context.Context, p actions.Plan, at time.Time) (a Approval, err error) {
	if a.Because, a.Covered, err = e.approvalBecause(ctx, p); err != nil {
		return a, err
	}
	if len(a.Because) == 0 {
		a.State = ApprovalNone
		return a, nil
	}
	a.Needed, a.State, a.Expires = true, ApprovalAsked, p.Expires
	r, err := e.opts.Journal.Approval(ctx, p.ID)
	if fault.Of(err) == fault.NotFound {
		r.State, err = store.ApprovalAsked, nil // the rules are stricter than when the plan was made
	}
	if err != nil {
		return a, err
	}
	if r.State == store.ApprovalAsked {
		if e.expiry.expired(spanOf(p), at) {
			a.State, a.Void = ApprovalVoid, message.New("approval.planExpired", "The plan has expired, and nobody had approved it.")
		}
		return a, nil
	}
	var b approvalBody
	if err := json.Unmarshal(r.Body, &b); err != nil {
		return a, fault.Wrap(fault.Unavailable, errors.Join(ErrUnreadable, err),
			"The approval of plan %s is unreadable: its row in the database is damaged. Make the plan again.", p.ID)
	}
	a.State, a.By, a.ByName, a.At, a.Expires = Approved, b.Person, b.Name, b.At, r.Until
	if a.Void = e.voidBecause(p, r, b, at); a.Void.IsZero() {
		if a.Void, err = e.approverGone(ctx, p, b); err != nil {
			return a, err
		}
	}
	if !a.Void.IsZero() {
		a.State = ApprovalVoid
	}
	return a, nil
}

// approverGone says why somebody who approved a plan may not do so any more; zero: they may, or have no
// account here.
func (e *approvals) approverGone(ctx context.Context, p actions.Plan, b approvalBody) (message.Message, error) {
	if e.opts.Approval.Approvers == nil {
		return message.Message{}, nil
	}
	now, known, err := e.opts.Approval.Approvers.PrincipalNow(ctx, b.Principal)
	switch {
	case fault.Of(err) == fault.Forbidden:
		return message.New("approval.approverGone", "It was given by {by}, whose account or token has ended since.",
			message.Text("by", b.Name)), nil
	case err != nil:
		return message.Message{}, fmt.Errorf("look up who approved plan %s: %w", p.ID, err)
	case known && (!now.May(auth.Operator) || !now.May(p.Role)):
		return message.New("approval.approverRole", "It was given by {by}, who may not approve such plans any more.",
			message.Text("by", b.Name)), nil
	case !known:
		return message.Message{}, nil
	}
	lapsed, err := e.opts.Approval.Approvers.Lapsed(ctx, b.Principal, b.At)
	if err != nil {
		return message.Message{}, fmt.Errorf("look up what became of who approved plan %s: %w", p.ID, err)
	}
	if lapsed {
		return message.New("approval.approverLapsed", "It was given by {by}, who could not approve such plans for some time since, or has "+
			"another role.", message.Text("by", b.Name)), nil
	}
	return message.Message{}, nil
}

// voidBecause says why an answer is no approval that counts; zero: it counts.
func (e *approvals) voidBecause(p actions.Plan, r store.ApprovalRecord, b approvalBody, at time.Time) message.Message {
	switch {
	case b.Refused:
		return message.New("approval.refused", "{by} refused it: {reason}", message.Text("by", b.Name), message.Text("reason", b.Reason))
	case r.State != string(Approved) || r.Plan != p.ID || r.Cluster != p.Cluster || b.Digest != approvalDigest(p):
		return message.New("approval.other", "It was given for something else than this plan.")
	case b.Person == "" || b.Person == p.By.Person():
		return message.New("approval.same", "It was given by the person who made the plan.")
	case e.expiry.expired(spanOf(p), at):
		return message.New("approval.planExpiredApproved", "The plan has expired; the approval ended with it.")
	case e.expiry.expired(approvalSpan(p.ID, b.At, r.Until), at):
		if clock.Ahead(b.At, at) || at.Before(r.Until) {
			return message.New("approval.clock",
				"The clock of the machine that shardboard runs on was set back since, so its age is uncertain.")
		}
		return message.New("approval.expired", "It counted until {until}.", message.Time("until", r.Until))
	}
	return message.Message{}
}

// approvalSpan is the time in which an approval counts.
func approvalSpan(plan string, at, until time.Time) span {
	return span{"approval " + plan + " " + at.UTC().Format(time.RFC3339Nano), at, until}
}

// approvalBecause lists why a plan needs approval. The undo of an approved run needs none for a while:
// whoever approved the change saw how it is undone, and an undo is often urgent.
func (e *approvals) approvalBecause(ctx context.Context, p actions.Plan) (because []message.Message, covered message.Message, err error) {
	because = e.opts.Approval.Rules.Because(p.Kind, p.UndoOf != "", p.Draft)
	if len(because) == 0 {
		because = p.Approval
	}
	if len(because) == 0 {
		recent, err := e.recentOf(ctx, p)
		return recent.because(e.opts.Approval.Rules, p), covered, err
	}
	if p.UndoOf == "" {
		return because, covered, nil
	}
	run, err := e.runByID(ctx, p.UndoOf)
	if err != nil {
		return nil, covered, err
	}
	made := p.Made
	if made.IsZero() { // it is being made
		made = e.now()
	}
	if run.Approval == nil || run.Ended.IsZero() || clock.Ahead(run.Ended, made) || made.Sub(run.Ended) >= approvalCoversUndo {
		return because, covered, nil
	}
	return nil, message.New("approval.undo", "{by} approved the run that this plan undoes; that covers its undo until {until}.",
		message.Text("by", run.Approval.ByName), message.Time("until", run.Ended.Add(approvalCoversUndo))), nil
}

// approvalFor checks, right before somebody runs a plan, that it has the approval that it needs; nil: it
// needs none. Runs that the engine starts as parts of another one are covered by the approval of that.
func (e *approvals) approvalFor(ctx context.Context, p actions.Plan) (*RunApproval, error) {
	a, err := e.approvalNow(ctx, p, e.now())
	switch {
	case err != nil:
		return nil, err
	case !a.Needed:
		return nil, nil
	case a.State == Approved:
		return &RunApproval{By: a.By, ByName: a.ByName, At: a.At}, nil
	case a.State == ApprovalVoid:
		return nil, fault.Wrap(fault.Conflict, errNotApproved, "The approval of this plan does not count. %s Make the plan again.", a.Void)
	}
	return nil, fault.Wrap(fault.Conflict, errNotApproved,
		"This plan needs the approval of somebody else before it can be run. %s", asText(a.Because))
}

// errNotApproved marks a refusal for want of an approval.
var errNotApproved = errors.New("not approved")

// asText is several sentences as one text.
func asText(sentences []message.Message) (out string) {
	for i, m := range sentences {
		if i > 0 {
			out += " "
		}
		out += m.String()
	}
	return out
}
