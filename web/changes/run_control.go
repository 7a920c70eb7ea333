package changes

import (
	"context"
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/site"
)

// StopRun holds a run before its next command.
func StopRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if _, err := s.Deps.Actions.Stop(r.Context(), auth.From(r.Context()), id); err != nil {
		return refuseRun(s, w, r, id, err)
	}
	site.SeeOther(w, "/runs/"+id)
	return nil
}

// StopRunJSON holds a run before its next command.
func StopRunJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	run, err := s.Deps.Actions.Stop(r.Context(), auth.From(r.Context()), id)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, changing.RunOf(s.ViewFor(r), run))
}

// UndoRun plans the inverse of a run and leads to the plan.
func UndoRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	return leadToPlan(s, w, r, id, s.Deps.Actions.Undo, r.PostForm.Get("reason"))
}

// UndoRunJSON plans the inverse of a run.
func UndoRunJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return writePlanAfter(s, w, r, s.Deps.Actions.Undo)
}

// FinishRun plans what is left of a run that has ended early and leads to the plan.
func FinishRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	return leadToPlan(s, w, r, id, s.Deps.Actions.Finish, "")
}

// FinishRunJSON plans what is left of a run that has ended early.
func FinishRunJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return writePlanAfter(s, w, r, s.Deps.Actions.Finish)
}

// planAfter makes a plan that follows from a run.
type planAfter func(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error)

// leadToPlan makes a plan that follows from a run and leads to it.
func leadToPlan(s *site.Site, w http.ResponseWriter, r *http.Request, id string, plan planAfter, reason string) error {
	p, err := plan(r.Context(), auth.From(r.Context()), id, reason)
	if err != nil {
		return refuseRun(s, w, r, id, err)
	}
	site.SeeOther(w, "/plans/"+p.ID)
	return nil
}

// writePlanAfter answers with a plan that follows from a run; the reason may be left out.
func writePlanAfter(s *site.Site, w http.ResponseWriter, r *http.Request, plan planAfter) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	var in api.PlanUndo
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	p, err := plan(r.Context(), auth.From(r.Context()), id, in.Reason)
	if err != nil {
		return err
	}
	return writeMadePlan(s, w, r, p)
}

// refuseRun shows the run with why the request was refused.
func refuseRun(s *site.Site, w http.ResponseWriter, r *http.Request, id string, err error) error {
	run, gone := s.Deps.Actions.RunByID(r.Context(), id)
	if gone != nil {
		return err
	}
	var text string
	return s.Problem(w, err, &text, func(status int) error { return writeRun(s, w, r, status, run, text) })
}
