package changes

import (
	"context"
	"net/http"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/web/guard"
	"shardboard/web/site"
)

// onRun is what people do to a run, and lead back to it.
func onRun[In any](rt site.Route, do func(*site.Site, *http.Request, string, In) (engine.Run, error)) site.Change[In, engine.Run] {
	rt.Policy, rt.Params, rt.Answer = guard.PolicyOperate, ofRun, api.Run{}
	return site.Change[In, engine.Run]{
		Route: rt,
		Do: func(s *site.Site, r *http.Request, in In) (engine.Run, error) {
			id, err := recordID(r)
			if err != nil {
				return engine.Run{}, err
			}
			return do(s, r, id, in)
		},
		Write: func(s *site.Site, w http.ResponseWriter, r *http.Request, run engine.Run) error {
			return site.WriteJSON(w, http.StatusOK, changing.RunOf(s.ViewFor(r), run))
		},
		Leads:   func(_ *http.Request, run engine.Run) string { return "/runs/" + run.ID },
		Refused: refuseRun[In],
	}
}

// afterRun makes a plan that follows from a run; the reason may be left out.
func afterRun(
	rt site.Route, plan func(s engine.Service, ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error),
) site.Change[api.PlanUndo, actions.Plan] {
	rt.Policy, rt.Params, rt.BodyOptional, rt.Answer = guard.PolicyOperate, ofRun, true, api.Plan{}
	rt.Status = []int{http.StatusCreated}
	return site.Change[api.PlanUndo, actions.Plan]{
		Route: rt,
		Do: func(s *site.Site, r *http.Request, in api.PlanUndo) (actions.Plan, error) {
			id, err := recordID(r)
			if err != nil {
				return actions.Plan{}, err
			}
			return plan(s.Deps.Changes.Actions, r.Context(), auth.From(r.Context()), id, in.Reason)
		},
		Write:   writeMadePlan,
		Leads:   func(_ *http.Request, p actions.Plan) string { return "/plans/" + p.ID },
		Refused: refuseRun[api.PlanUndo],
	}
}

// stopRun holds a run before its next command.
func stopRun(s *site.Site, r *http.Request, id string, _ struct{}) (engine.Run, error) {
	return s.Deps.Changes.Actions.Stop(r.Context(), auth.From(r.Context()), id)
}

// pauseRun pauses a batch.
func pauseRun(s *site.Site, r *http.Request, id string, _ struct{}) (engine.Run, error) {
	return s.Deps.Changes.Actions.Pause(r.Context(), auth.From(r.Context()), id)
}

// resumeRun lets a batch go on, or decides about one of its items.
func resumeRun(s *site.Site, r *http.Request, id string, in api.RunResume) (engine.Run, error) {
	return s.Deps.Changes.Actions.Resume(r.Context(), auth.From(r.Context()), id, engine.ResumeRequest{Item: in.Item, Do: in.Do})
}

// refuseRun shows the run with why the request was refused.
func refuseRun[In any](s *site.Site, w http.ResponseWriter, r *http.Request, _ In, err error) error {
	run, gone := runOf(s, r)
	if gone != nil {
		return err
	}
	var text string
	return s.Problem(w, err, &text, func(status int) error { return writeRun(s, w, r, status, run, text) })
}
