package web

import (
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
)

// pageNewPlan is the form of one kind of change, filled in with what the address
// says. Without a kind it lists what there is.
func (s *Site) pageNewPlan(w http.ResponseWriter, r *http.Request) error {
	v, in := s.viewFor(r), r.URL.Query()
	kind := actions.Kind(in.Get("kind"))
	if kind == "" {
		m := kindsView()
		return writePage(w, r, http.StatusOK, templates.NewPlanPage(s.shell(r, v, "runs", m.Title), m))
	}
	if !kind.Known() {
		return fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(string(kind), 60))
	}
	m := planForm(v, kind, in)
	return writePage(w, r, http.StatusOK, templates.NewPlanPage(s.shell(r, v, "runs", m.Title), m))
}

// postPlan makes a plan of a form and leads to it; what is wrong is said in the
// form, with what was typed.
func (s *Site) postPlan(w http.ResponseWriter, r *http.Request) error {
	if err := parseForm(r); err != nil {
		return err
	}
	kind := actions.Kind(r.PostForm.Get("kind"))
	if !kind.Known() {
		return fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(string(kind), 60))
	}
	args, err := formArgs(r.PostForm)
	if err == nil {
		var p actions.Plan
		p, err = s.deps.Actions.Plan(r.Context(), auth.From(r.Context()), engine.Request{Kind: kind, Args: args, Reason: r.PostForm.Get("reason")})
		if err == nil {
			seeOther(w, "/plans/"+p.ID)
			return nil
		}
	}
	v := s.viewFor(r)
	m := planForm(v, kind, r.PostForm)
	return s.problem(w, err, &m.Problem, func(status int) error {
		return writePage(w, r, status, templates.NewPlanPage(s.shell(r, v, "runs", m.Title), m))
	})
}
