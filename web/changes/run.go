package changes

import (
	"context"
	"errors"
	"net/http"

	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/outcome"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// Region is a run as everybody sees it.
type Region struct {
	api.Run
	v     answer.View
	refs  templates.Refs
	whole engine.Run // with what only the log and migrations in flight need
}

// runPage is a run, and what its viewer may do with it.
type runPage struct {
	Region
	MayAct  bool
	Problem string // why a request was refused
}

// PageRun shows how far a run is and what is proven. Its region follows the run;
// what somebody may do with it stands beside.
func PageRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	run, err := askedRun(s, r)
	if err != nil {
		return err
	}
	return writeRun(s, w, r, http.StatusOK, run, "")
}

func writeRun(s *site.Site, w http.ResponseWriter, r *http.Request, status int, run engine.Run, refusal string) error {
	v := s.ViewFor(r)
	m := runPage{Region: RegionOf(r.Context(), s, v, run), Problem: refusal,
		MayAct: auth.From(r.Context()).May(auth.Operator) && s.WhyReadOnly() == ""}
	return site.WritePage(w, r, status, RunPage(s.Shell(r, v, "runs", m.Summary, "run:"+run.ID), m))
}

// RegionOf is a run with its outcome. A page whose outcome cannot be read says so:
// without a word it would look as if nothing had been measured.
func RegionOf(ctx context.Context, s *site.Site, v answer.View, run engine.Run) Region {
	m := Region{v: v, refs: templates.RefsOf(v.Table), whole: run}
	var err error
	if m.Run, err = wholeRun(ctx, s, v, run); err != nil {
		s.Deps.Log.Warn("read the outcome of a run", "run", run.ID, "err", err)
		m.Outcome = &api.RunOutcome{Label: "Not known.", Text: "What was measured could not be read; the program’s log says why."}
	}
	return m
}

// wholeRun is a run with its outcome, which lists of runs leave out. With an error
// it is the run alone.
func wholeRun(ctx context.Context, s *site.Site, v answer.View, r engine.Run) (api.Run, error) {
	out := answer.RunOf(v, r)
	o, cost, err := outcomeOf(ctx, s, r)
	if err == nil {
		out.Outcome, out.Cost = answer.RunOutcome(v, r, o), answer.RunCost(cost)
	}
	return out, err
}

// outcomeOf is whether a run helped, and what its migrations cost where its plan
// is still kept.
func outcomeOf(ctx context.Context, s *site.Site, r engine.Run) (outcome.Outcome, *outcome.Cost, error) {
	o := outcome.Off(r)
	if s.Deps.Outcomes != nil {
		var err error
		if o, err = s.Deps.Outcomes.Of(ctx, r); err != nil {
			return o, nil, err
		}
	}
	p, err := s.Deps.Actions.PlanByID(ctx, r.Plan)
	switch {
	case fault.Of(err) == fault.NotFound || errors.Is(err, engine.ErrUnreadable):
		return o, nil, nil
	case err != nil:
		return o, nil, err
	}
	cost := outcome.CostOf(p, r)
	return o, &cost, nil
}

// PostStopRun holds a run before its next command.
func PostStopRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if _, err := s.Deps.Actions.Stop(r.Context(), auth.From(r.Context()), id); err != nil {
		return runProblem(s, w, r, id, err)
	}
	site.SeeOther(w, "/runs/"+id)
	return nil
}

// PostUndoRun plans the inverse of a run and leads to the plan.
func PostUndoRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if err := site.ParseForm(r); err != nil {
		return err
	}
	p, err := s.Deps.Actions.Undo(r.Context(), auth.From(r.Context()), id, r.PostForm.Get("reason"))
	if err != nil {
		return runProblem(s, w, r, id, err)
	}
	site.SeeOther(w, "/plans/"+p.ID)
	return nil
}

// PostFinishRun plans what is left of a run that has ended early and leads to the
// plan.
func PostFinishRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	p, err := s.Deps.Actions.Finish(r.Context(), auth.From(r.Context()), id, "")
	if err != nil {
		return runProblem(s, w, r, id, err)
	}
	site.SeeOther(w, "/plans/"+p.ID)
	return nil
}

// runProblem shows the run with why the request was refused.
func runProblem(s *site.Site, w http.ResponseWriter, r *http.Request, id string, err error) error {
	run, gone := s.Deps.Actions.RunByID(r.Context(), id)
	if gone != nil {
		return err
	}
	var text string
	return s.Problem(w, err, &text, func(status int) error { return writeRun(s, w, r, status, run, text) })
}
