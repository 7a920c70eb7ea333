package changes

import (
	"net/http"
	"strconv"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/message"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// shownPlan is a plan, and what its viewer may do with it.
type shownPlan struct {
	api.Plan
	v    answer.View
	refs templates.Refs

	sentences templates.Sentences

	May          changing.PlanMay
	Approving    changing.ApprovalMay
	Problem      string            // why the request to run it was refused
	Changed      []message.Message // what is different from the plan
	WrongConfirm bool
	Run          *engine.Run // that ran it
	Again        *again
	Part         commandPart
}

// exists reports whether the routing table has a collection.
func (m shownPlan) exists(ns string) bool { return m.v.Table.Collection(topology.Namespace(ns)) != nil }

// commandsListed is how many commands, or items of a batch, are on one page of a plan.
const commandsListed = 100

// staysShown is how many sentences about what stays a page shows at once; the others are folded.
const staysShown = 12

// commandPart is the part of a plan's commands that its page lists.
type commandPart struct {
	From, To       int    // positions in the list: [From, To)
	Previous, Next string // addresses; "" for none
}

// commandPartOf is the part that the address asks for.
func commandPartOf(r *http.Request, p api.Plan) (out commandPart, err error) {
	q, err := param.Read[itemsQuery](r.URL.Query())
	if err != nil {
		return out, err
	}
	all := len(p.Commands)
	out.From = min(q.after, all)
	out.To = min(out.From+commandsListed, all)
	at := func(n int) string {
		return "/plans/" + p.ID + "?cursor=" + string(answer.CursorOf(strconv.Itoa(n))) + "#commands"
	}
	if out.From > 0 {
		out.Previous = at(max(0, out.From-commandsListed))
	}
	if out.To < all {
		out.Next = at(out.To)
	}
	return out, nil
}

// again is a form that makes the same plan anew.
type again struct {
	URL      string
	Fields   []hidden
	LeaveOut bool // offers to leave out the items that a check blocks
}

// hidden is a value that a form sends along.
type hidden struct{ Name, Value string }

// PlanPage shows what will happen, before it does.
func PlanPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	p, err := planOf(s, r)
	if err != nil {
		return err
	}
	return writePlan(s, w, r, http.StatusOK, p, nil)
}

// plan is the plan that the address names.
func plan(s *site.Site, r *http.Request) (api.Plan, error) {
	p, err := planOf(s, r)
	if err != nil {
		return api.Plan{}, err
	}
	return changing.PlanWithApproval(r.Context(), s.ViewFor(r), s.Deps.Changes.Actions, p)
}

// writePlan shows a plan, and why the request to run it was refused.
func writePlan(s *site.Site, w http.ResponseWriter, r *http.Request, status int, p actions.Plan, refusal error) error {
	v := s.ViewFor(r)
	out, err := changing.PlanWithApproval(r.Context(), v, s.Deps.Changes.Actions, p)
	if err != nil {
		return err
	}
	m := shownPlan{Plan: out, v: v, refs: templates.RefsOf(v.Table), sentences: templates.SentencesOf(v)}
	if m.Part, err = commandPartOf(r, out); err != nil {
		return err
	}
	m.Approving = changing.ApprovalMayOf(m.Plan, p.By, auth.From(r.Context()), s.Deps.Store.WhyReadOnly(), v.Now)
	m.May = changing.PlanMayOf(m.Plan, auth.From(r.Context()), s.Deps.Store.WhyReadOnly(), v.Now)
	if m.Approving.Approve { // it is approved here, not made again
		m.May = changing.PlanMay{WhyNot: changing.RunsAfterApproval(m.Plan)}
	}
	run, err := s.Deps.Changes.Actions.RunOfPlan(r.Context(), p.ID)
	switch {
	case err == nil:
		m.Run, m.May.WhyNot, m.Approving = &run, "", changing.ApprovalMay{}
	case fault.Of(err) != fault.NotFound:
		return err
	case m.May.Again:
		m.Again = planAgain(v.Plan(p))
	}
	if refusal != nil {
		m.refuse(p, refusal)
		m.Problem = s.ProblemText(w, refusal)
	}
	topics := []string{}
	if m.Approval.Needed && m.Run == nil {
		topics = []string{"plan:" + p.ID}
	}
	return site.WritePage(w, r, status, planPage(s.Shell(r, v, "runs", m.Title.String(), topics...), m))
}

func planAgain(p actions.Plan) *again {
	reason := hidden{Name: "reason", Value: p.Reason}
	if p.UndoOf != "" {
		return &again{URL: "/runs/" + p.UndoOf + "/undo", Fields: []hidden{reason}}
	}
	out := &again{URL: "/plans", Fields: []hidden{{Name: "kind", Value: string(p.Kind)}, reason}}
	if p.Kind == actions.Batch { // its arguments can have megabytes
		out.Fields = append(out.Fields, hidden{Name: "again", Value: p.ID})
		out.LeaveOut = len(p.Steps) > 1 && p.Blocked()
		return out
	}
	texts := p.Args.Texts()
	for _, x := range actions.Arguments() {
		if text, given := texts[x.Name]; given {
			out.Fields = append(out.Fields, hidden{Name: x.Name, Value: text})
		}
	}
	return out
}
