package changes

import (
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/web/site"
)

// NewPlanPage is the form of one kind of change, filled in with what the address
// says. Without a kind it lists the kinds.
func NewPlanPage(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, in := s.ViewFor(r), r.URL.Query()
	if in.Get("kind") == "" {
		return site.WritePage(w, r, http.StatusOK, kindsPage(s.Shell(r, v, "runs", "New change")))
	}
	kind, err := actions.KindNamed(in.Get("kind"))
	if err != nil {
		return err
	}
	m := formOf(v, kind, in)
	return site.WritePage(w, r, http.StatusOK, formPage(s.Shell(r, v, "runs", s.Deps.Cluster.Profile.Words(m.Kind.Title)), m))
}

// MakePlan makes a plan of a form and leads to it. A refusal is shown in the form,
// with what was typed.
func MakePlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	if err := site.ParseForm(r); err != nil {
		return err
	}
	kind, err := actions.KindNamed(r.PostForm.Get("kind"))
	if err != nil {
		return err
	}
	if id := r.PostForm.Get("again"); id != "" {
		return planBatchAgain(s, w, r, id)
	}
	args, err := FormArgs(r.PostForm)
	if err == nil {
		var p actions.Plan
		if p, err = makePlan(s, r, kind, args, r.PostForm.Get("reason")); err == nil {
			site.SeeOther(w, "/plans/"+p.ID)
			return nil
		}
	}
	v := s.ViewFor(r)
	m := formOf(v, kind, r.PostForm)
	return s.Problem(w, err, &m.Problem, func(status int) error {
		return site.WritePage(w, r, status, formPage(s.Shell(r, v, "runs", s.Deps.Cluster.Profile.Words(m.Kind.Title)), m))
	})
}

// planBatchAgain makes the plan of a batch anew, with or without its blocked items. Its arguments are
// those of the earlier plan, because they may be too long for a form.
func planBatchAgain(s *site.Site, w http.ResponseWriter, r *http.Request, id string) error {
	if !store.IsPlanOrRunID(id) {
		return fault.New(fault.Invalid, "The id of the plan is not the id of a plan.")
	}
	old, err := s.Deps.Changes.Actions.PlanByID(r.Context(), id)
	if err != nil {
		return err
	}
	args := old.Args
	args.LeaveOut = r.PostForm.Get("leaveOutBlocked") == "true"
	p, err := makePlan(s, r, old.Kind, args, r.PostForm.Get("reason"))
	switch {
	case err == nil:
		site.SeeOther(w, "/plans/"+p.ID)
		return nil
	case fault.Of(err) == fault.Internal:
		return err
	}
	return writePlan(s, w, r, fault.Of(err).HTTPStatus(), old, err)
}

// MakePlanJSON makes a plan. It is the dry run too: nothing is changed.
func MakePlanJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.PlanRequest
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	args, err := actions.ReadArgs(in.Args.RawMessage)
	if err != nil {
		return err
	}
	p, err := makePlan(s, r, actions.Kind(in.Kind), args, in.Reason)
	if err != nil {
		return err
	}
	return writeMadePlan(s, w, r, p)
}

func makePlan(s *site.Site, r *http.Request, kind actions.Kind, args actions.Args, reason string) (actions.Plan, error) {
	return s.Deps.Changes.Actions.Plan(r.Context(), auth.From(r.Context()), engine.Request{Kind: kind, Args: args, Reason: reason})
}

// writeMadePlan answers with a new plan and its address.
func writeMadePlan(s *site.Site, w http.ResponseWriter, r *http.Request, p actions.Plan) error {
	w.Header().Set("Location", api.Prefix+"/plans/"+p.ID)
	return writePlanJSON(s, w, r, http.StatusCreated, p)
}

func writePlanJSON(s *site.Site, w http.ResponseWriter, r *http.Request, status int, p actions.Plan) error {
	out, err := changing.PlanWithApproval(r.Context(), s.ViewFor(r), s.Deps.Changes.Actions, p)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, status, out)
}
