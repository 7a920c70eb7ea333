package changes

import (
	"errors"
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// pagePlan is what will happen, before it does.
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
	m := planFor(planView(v, p), p, auth.From(r.Context()), s.WhyReadOnly())
	run, err := s.Deps.Actions.RunOfPlan(r.Context(), p.ID)
	switch {
	case err == nil:
		m = runOfPlan(m, run)
	case fault.Of(err) != fault.NotFound:
		return err
	}
	if refusal != nil {
		m = refused(m, p, refusal)
		m.Problem = s.ProblemText(w, refusal)
	}
	return site.WritePage(w, r, status, PlanPage(s.Shell(r, v, "runs", m.Sentence), m))
}

// refused adds to a plan why it was not started: what changed, field by field,
// or which checks block as things are now.
func refused(m Plan, p actions.Plan, err error) Plan {
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
	return m
}

// postRunPlan starts a plan and leads to its run; the same form sent twice leads
// to the same run.
func PostRunPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	run, _, err := s.Deps.Actions.Run(r.Context(), auth.From(r.Context()), id, engine.RunRequest{Hash: r.PostForm.Get("hash"), Confirm: r.PostForm.Get("confirm")})
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
