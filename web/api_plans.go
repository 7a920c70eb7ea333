package web

import (
	"context"
	"net/http"
	"strings"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// apiMakePlan makes a plan. It is the dry run too: nothing is changed.
func (s *Site) apiMakePlan(w http.ResponseWriter, r *http.Request) error {
	var in api.PlanRequest
	if err := readJSON(r, &in); err != nil {
		return err
	}
	args, err := planArgs(in.Args)
	if err != nil {
		return err
	}
	p, err := s.deps.Actions.Plan(r.Context(), auth.From(r.Context()), engine.Request{Kind: actions.Kind(in.Kind), Args: args, Reason: in.Reason})
	if err != nil {
		return err
	}
	w.Header().Set("Location", api.Prefix+"/plans/"+p.ID)
	return writeJSON(w, http.StatusCreated, planOf(s.viewFor(r), p))
}

func (s *Site) apiPlan(w http.ResponseWriter, r *http.Request) error {
	p, err := s.askedPlan(r)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, planOf(s.viewFor(r), p))
}

// apiRunPlan starts a plan: 202 with the run, 200 when the same caller has
// started it before.
func (s *Site) apiRunPlan(w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	var in api.PlanRun
	if err := readJSON(r, &in); err != nil {
		return err
	}
	confirm := ""
	if in.Confirm != nil {
		confirm = *in.Confirm
	}
	run, created, err := s.deps.Actions.Run(r.Context(), auth.From(r.Context()), id, engine.RunRequest{Hash: in.Hash, Confirm: confirm})
	if err != nil {
		return err
	}
	status := http.StatusOK
	if created {
		status = http.StatusAccepted
	}
	w.Header().Set("Location", api.Prefix+"/runs/"+run.ID)
	return writeJSON(w, status, runOf(s.viewFor(r), run))
}

func (s *Site) apiRuns(w http.ResponseWriter, r *http.Request) error {
	limit, err := limitOf(r.URL.Query())
	if err != nil {
		return err
	}
	cursor, _, err := cursorKey(r.URL.Query())
	if err != nil {
		return err
	}
	runs, next, err := s.deps.Actions.Runs(r.Context(), cursor, limit)
	if err != nil {
		return err
	}
	out := api.List[api.Run]{AsOf: s.deps.Now()}
	for _, run := range runs {
		out.Items = append(out.Items, runOf(s.viewFor(r), run))
	}
	if next != "" {
		out.Next = cursorOf(next)
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.askedRun(r)
	if err != nil {
		return err
	}
	out, err := s.wholeRun(r.Context(), s.viewFor(r), run)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, out)
}

func (s *Site) apiStopRun(w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	run, err := s.deps.Actions.Stop(r.Context(), auth.From(r.Context()), id)
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, runOf(s.viewFor(r), run))
}

// apiUndoRun plans the inverse of a run.
func (s *Site) apiUndoRun(w http.ResponseWriter, r *http.Request) error {
	return s.planAfter(w, r, s.deps.Actions.Undo)
}

// apiFinishRun plans what is left of a run that has ended early.
func (s *Site) apiFinishRun(w http.ResponseWriter, r *http.Request) error {
	return s.planAfter(w, r, s.deps.Actions.Finish)
}

// planAfter answers with a plan that follows from a run; the reason may be left out.
func (s *Site) planAfter(w http.ResponseWriter, r *http.Request, plan func(ctx context.Context, by auth.Principal, run, reason string) (actions.Plan, error)) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	var in api.PlanUndo
	if err := readJSON(r, &in); err != nil {
		return err
	}
	p, err := plan(r.Context(), auth.From(r.Context()), id, in.Reason)
	if err != nil {
		return err
	}
	w.Header().Set("Location", api.Prefix+"/plans/"+p.ID)
	return writeJSON(w, http.StatusCreated, planOf(s.viewFor(r), p))
}

// askedPlan is the plan that an address names.
func (s *Site) askedPlan(r *http.Request) (actions.Plan, error) {
	id, err := recordID(r)
	if err != nil {
		return actions.Plan{}, err
	}
	return s.deps.Actions.PlanByID(r.Context(), id)
}

// askedRun is the run that an address names.
func (s *Site) askedRun(r *http.Request) (engine.Run, error) {
	id, err := recordID(r)
	if err != nil {
		return engine.Run{}, err
	}
	return s.deps.Actions.RunByID(r.Context(), id)
}

// recordID is the id of a plan or a run in an address.
func recordID(r *http.Request) (string, error) {
	id, err := pathText(r, "id")
	if err != nil {
		return "", err
	}
	if !recordName(id) {
		return "", fault.New(fault.NotFound, "There is no plan or run with the id %q.", sanitize.Truncate(id, 60))
	}
	return id, nil
}

// recordName tells whether a text can be the id of a plan or a run: 128 bits in
// base32.
func recordName(id string) bool {
	return len(id) == 26 && strings.Trim(id, "abcdefghijklmnopqrstuvwxyz234567") == ""
}
