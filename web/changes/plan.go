package changes

import (
	"errors"
	"net/http"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// planPage is a plan, and what its viewer may do with it.
type planPage struct {
	api.Plan
	v    answer.View
	refs templates.Refs

	Problem      string   // why the request to run it was refused
	Changed      []string // what is different from the plan
	WrongConfirm bool
	MayRun       bool // its viewer has a button
	WhyNot       string
	Run          *engine.Run // that ran it
	Again        *again
}

// again is a form that makes the same plan anew.
type again struct {
	URL    string
	Fields []hidden
}

// hidden is a value that a form sends along.
type hidden struct{ Name, Value string }

// PagePlan shows what will happen, before it does.
func PagePlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	p, err := askedPlan(s, r)
	if err != nil {
		return err
	}
	return writePlan(s, w, r, http.StatusOK, p, nil)
}

// writePlan shows a plan, and why the request to run it was refused.
func writePlan(s *site.Site, w http.ResponseWriter, r *http.Request, status int, p actions.Plan, refusal error) error {
	v := s.ViewFor(r)
	m := planPage{Plan: answer.PlanOf(v, p), v: v, refs: templates.RefsOf(v.Table), Again: planAgain(v.Plan(p))}
	m.allow(p, auth.From(r.Context()), s.WhyReadOnly())
	run, err := s.Deps.Actions.RunOfPlan(r.Context(), p.ID)
	switch {
	case err == nil:
		m.Run, m.Again, m.WhyNot = &run, nil, ""
	case fault.Of(err) != fault.NotFound:
		return err
	}
	if refusal != nil {
		m.refuse(p, refusal)
		m.Problem = s.ProblemText(w, refusal)
	}
	return site.WritePage(w, r, status, PlanPage(s.Shell(r, v, "runs", m.Summary), m))
}

// allow fills in what a viewer may do with the plan.
func (m *planPage) allow(p actions.Plan, who auth.Principal, whyReadOnly string) {
	m.MayRun = who.May(auth.Operator)
	switch {
	case !m.MayRun:
		m.WhyNot, m.Again = "To run it needs the role "+auth.Operator.Label()+".", nil
	case whyReadOnly != "":
		m.WhyNot = whyReadOnly
	case p.By.ID != who.ID:
		m.WhyNot = "This plan is " + m.ByName + "’s. Make your own: it is checked again."
	case m.Blocked:
		m.WhyNot = "A check forbids it."
		for _, c := range m.Checks {
			if c.Verdict == string(actions.Block) {
				m.WhyNot += " " + c.Text
			}
		}
	case !who.May(p.Role):
		m.WhyNot = "To run it needs the role " + p.Role.Label() + "."
	case m.expired():
		m.WhyNot = "This plan has expired. Make it again."
	default:
		m.Again = nil
	}
}

func (m *planPage) expired() bool { return m.ExpiresAt == nil || !m.v.Now.Before(*m.ExpiresAt) }

// refuse adds why the plan was not started: what changed, field by field, or
// which checks block as things are now.
func (m *planPage) refuse(p actions.Plan, err error) {
	var changed *engine.ChangedError
	var blocked *engine.BlockedError
	switch {
	case errors.As(err, &changed):
		for _, d := range changed.Differences {
			m.Changed = append(m.Changed, d.Text().String())
		}
		m.Again = planAgain(p)
	case errors.As(err, &blocked):
		for _, c := range blocked.Checks {
			m.Changed = append(m.Changed, c.Text.String())
		}
		m.Again = planAgain(p)
	case fault.Of(err) == fault.Invalid:
		m.WrongConfirm = true
	}
}

func planAgain(p actions.Plan) *again {
	reason := hidden{Name: "reason", Value: p.Reason}
	if p.UndoOf != "" {
		return &again{URL: "/runs/" + p.UndoOf + "/undo", Fields: []hidden{reason}}
	}
	out := &again{URL: "/plans", Fields: []hidden{{Name: "kind", Value: string(p.Kind)}, reason}}
	texts := p.Args.Texts()
	for _, x := range actions.Arguments() {
		if text, given := texts[x.Name]; given {
			out.Fields = append(out.Fields, hidden{Name: x.Name, Value: text})
		}
	}
	return out
}

// worstFirst are the checks, those that block first.
func (m *planPage) worstFirst() []api.PlanCheck {
	order := []string{string(actions.Block), string(actions.Warn), string(actions.Pass)}
	out := slices.Clone(m.Checks)
	slices.SortStableFunc(out, func(a, b api.PlanCheck) int {
		return slices.Index(order, a.Verdict) - slices.Index(order, b.Verdict)
	})
	return out
}

// counted is how many checks have a verdict.
func (m *planPage) counted(v actions.Verdict) (n int) {
	for _, c := range m.Checks {
		if c.Verdict == string(v) {
			n++
		}
	}
	return n
}

// needs are what is read again before a step.
func (m *planPage) needs(step int) (out []string) {
	for _, p := range m.Preconditions {
		if p.Step == step {
			out = append(out, p.Text)
		}
	}
	return out
}

// PostRunPlan starts a plan and leads to its run; the same form sent twice leads
// to the same run.
func PostRunPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	run, _, err := s.Deps.Actions.Run(r.Context(), auth.From(r.Context()), id,
		engine.RunRequest{Hash: r.PostForm.Get("hash"), Confirm: r.PostForm.Get("confirm")})
	if err == nil {
		site.SeeOther(w, "/runs/"+run.ID)
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
