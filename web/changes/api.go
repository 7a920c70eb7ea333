package changes

import (
	"context"
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
	"shardboard/internal/store"
	"shardboard/web/site"
)

// apiMakePlan makes a plan. It is the dry run too: nothing is changed.
func ApiMakePlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	var in api.PlanRequest
	if err := site.ReadJSON(r, &in); err != nil {
		return err
	}
	args, err := actions.ReadArgs(in.Args.RawMessage)
	if err != nil {
		return err
	}
	p, err := s.Deps.Actions.Plan(
		r.Context(),
		auth.From(r.Context()),
		engine.Request{Kind: actions.Kind(in.Kind), Args: args, Reason: in.Reason},
	)
	if err != nil {
		return err
	}
	w.Header().Set("Location", api.Prefix+"/plans/"+p.ID)
	return site.WriteJSON(w, http.StatusCreated, answer.PlanOf(s.ViewFor(r), p))
}

func ApiPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	p, err := askedPlan(s, r)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.PlanOf(s.ViewFor(r), p))
}

// apiRunPlan starts a plan: 202 with the run, 200 when the same caller has
// started it before.
func ApiRunPlan(s *site.Site, w http.ResponseWriter, r *http.Request) error {
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
	return site.WriteJSON(w, status, answer.RunOf(s.ViewFor(r), run))
}

func ApiRuns(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	limit, err := answer.LimitOf(r.URL.Query())
	if err != nil {
		return err
	}
	cursor, _, err := answer.CursorKey(r.URL.Query())
	if err != nil {
		return err
	}
	runs, next, err := s.Deps.Actions.Runs(r.Context(), cursor, limit)
	if err != nil {
		return err
	}
	out := api.List[api.Run]{AsOf: s.Deps.Now()}
	for _, run := range runs {
		out.Items = append(out.Items, answer.RunOf(s.ViewFor(r), run))
	}
	if next != "" {
		out.Next = answer.CursorOf(next)
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	run, err := askedRun(s, r)
	if err != nil {
		return err
	}
	out, err := wholeRun(r.Context(), s, s.ViewFor(r), run)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, out)
}

func ApiStopRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	run, err := s.Deps.Actions.Stop(r.Context(), auth.From(r.Context()), id)
	if err != nil {
		return err
	}
	return site.WriteJSON(w, http.StatusOK, answer.RunOf(s.ViewFor(r), run))
}

// apiUndoRun plans the inverse of a run.
func ApiUndoRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return planAfter(s, w, r, s.Deps.Actions.Undo)
}

// apiFinishRun plans what is left of a run that has ended early.
func ApiFinishRun(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	return planAfter(s, w, r, s.Deps.Actions.Finish)
}

// planAfter answers with a plan that follows from a run; the reason may be left out.
func planAfter(
	s *site.Site,
	w http.ResponseWriter,
	r *http.Request,
	plan func(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error),
) error {
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
	w.Header().Set("Location", api.Prefix+"/plans/"+p.ID)
	return site.WriteJSON(w, http.StatusCreated, answer.PlanOf(s.ViewFor(r), p))
}

// askedPlan is the plan that an address names.
func askedPlan(s *site.Site, r *http.Request) (actions.Plan, error) {
	id, err := recordID(r)
	if err != nil {
		return actions.Plan{}, err
	}
	return s.Deps.Actions.PlanByID(r.Context(), id)
}

// askedRun is the run that an address names.
func askedRun(s *site.Site, r *http.Request) (engine.Run, error) {
	id, err := recordID(r)
	if err != nil {
		return engine.Run{}, err
	}
	return s.Deps.Actions.RunByID(r.Context(), id)
}

// recordID is the id of a plan or a run in an address.
func recordID(r *http.Request) (string, error) {
	id, err := site.PathText(r, "id")
	if err != nil {
		return "", err
	}
	if !store.IsPlanOrRunID(id) {
		return "", fault.New(fault.NotFound, "There is no plan or run with the id %q.", sanitize.Truncate(id, 60))
	}
	return id, nil
}
