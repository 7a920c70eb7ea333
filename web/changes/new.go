package changes

import (
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/web/site"
)

// pageNewPlan is the form of one kind of change, filled in with what the address
// says. Without a kind it lists what there is.
func PageNewPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, in := s.ViewFor(r), r.URL.Query()
	kind := actions.Kind(in.Get("kind"))
	if kind == "" {
		return site.WritePage(w, r, http.StatusOK, kindsPage(s.Shell(r, v, "runs", "New change")))
	}
	if !kind.Known() {
		return fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(string(kind), 60))
	}
	m := formOf(v, kind, in)
	return site.WritePage(w, r, http.StatusOK, formPage(s.Shell(r, v, "runs", m.Title), m))
}

// postPlan makes a plan of a form and leads to it; what is wrong is said in the
// form, with what was typed.
func PostPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	kind := actions.Kind(r.PostForm.Get("kind"))
	if !kind.Known() {
		return fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(string(kind), 60))
	}
	args, err := FormArgs(r.PostForm)
	if err == nil {
		var p actions.Plan
		p, err = s.Deps.Actions.Plan(
			r.Context(),
			auth.From(r.Context()),
			engine.Request{Kind: kind, Args: args, Reason: r.PostForm.Get("reason")},
		)
		if err == nil {
			site.SeeOther(w, "/plans/"+p.ID)
			return nil
		}
	}
	v := s.ViewFor(r)
	m := formOf(v, kind, r.PostForm)
	return s.Problem(w, err, &m.Problem, func(status int) error {
		return site.WritePage(w, r, status, formPage(s.Shell(r, v, "runs", m.Title), m))
	})
}
