package changes

import (
	"errors"
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/web/site"
)

// RunPlan starts a plan and leads to its run; the same form sent twice leads to the
// same run.
func RunPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
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

// refuse adds why the plan was not started: what changed, field by field, or which
// checks block it by now.
func (m *shownPlan) refuse(p actions.Plan, err error) {
	var changed *engine.ChangedError
	var blocked *engine.BlockedError
	switch {
	case errors.As(err, &changed):
		for _, d := range changed.Differences {
			m.Changed = append(m.Changed, changing.DifferenceMessage(m.v, d))
		}
		m.Again = planAgain(p)
	case errors.As(err, &blocked):
		for _, c := range blocked.Checks {
			m.Changed = append(m.Changed, c.Text)
		}
		m.Again = planAgain(p)
	case fault.Of(err) == fault.Invalid:
		m.WrongConfirm = true
	}
}

// RunPlanJSON starts a plan: 202 with the run, 200 if the same caller has started it
// before.
func RunPlanJSON(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	var in api.PlanRun
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	confirm := ""
	if in.Confirm != nil {
		confirm = *in.Confirm
	}
	run, created, err := s.Deps.Actions.Run(r.Context(), auth.From(r.Context()), id, engine.RunRequest{Hash: in.Hash, Confirm: confirm})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusAccepted
	}
	w.Header().Set("Location", api.Prefix+"/runs/"+run.ID)
	return site.WriteJSON(w, status, changing.RunOf(s.ViewFor(r), run))
}
