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

// startedRun is the run of a plan.
type startedRun struct {
	engine.Run
	created bool // by this request; else the same caller had started it before
}

// startPlan starts a plan, once: sent twice, it gives the same run.
func startPlan(s *site.Site, r *http.Request, in api.PlanRun) (out startedRun, err error) {
	id, err := recordID(r)
	if err != nil {
		return out, err
	}
	asked := engine.RunRequest{Hash: in.Hash}
	if in.Confirm != nil {
		asked.Confirm = *in.Confirm
	}
	out.Run, out.created, err = s.Deps.Changes.Actions.Run(r.Context(), auth.From(r.Context()), id, asked)
	return out, err
}

// writeStartedRun answers 202 with a new run, 200 with one that there was.
func writeStartedRun(s *site.Site, w http.ResponseWriter, r *http.Request, run startedRun) error {
	status := http.StatusOK
	if run.created {
		status = http.StatusAccepted
	}
	w.Header().Set("Location", api.Prefix+"/runs/"+run.ID)
	return site.WriteJSON(w, status, changing.RunOf(s.ViewFor(r), run.Run))
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
