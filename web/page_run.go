package web

import (
	"net/http"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/web/templates"
)

// pageRun is how far a run is and what is proven. Its region follows the run;
// what somebody may do with it stands beside.
func (s *Site) pageRun(w http.ResponseWriter, r *http.Request) error {
	run, err := s.askedRun(r)
	if err != nil {
		return err
	}
	return s.writeRun(w, r, http.StatusOK, run, "")
}

func (s *Site) writeRun(w http.ResponseWriter, r *http.Request, status int, run engine.Run, refusal string) error {
	v := s.viewFor(r)
	m := templates.RunPage{Run: s.runModel(r.Context(), v, run), Problem: refusal}
	if auth.From(r.Context()).May(auth.Operator) && s.whyReadOnly() == "" {
		if m.Run.Open {
			m.StopURL = "/runs/" + run.ID + "/stop"
		}
		// Offered as soon as the run ends, without a script's help: the style
		// sheet shows it then.
		m.UndoURL = "/runs/" + run.ID + "/undo"
		m.FinishURL = "/runs/" + run.ID + "/finish"
	}
	return writePage(w, r, status, templates.RunPageView(s.shell(r, v, "runs", m.Run.Sentence, "run:"+run.ID), m))
}

// postStopRun holds a run before its next command.
func (s *Site) postStopRun(w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if _, err := s.deps.Actions.Stop(r.Context(), auth.From(r.Context()), id); err != nil {
		return s.runProblem(w, r, id, err)
	}
	seeOther(w, "/runs/"+id)
	return nil
}

// postUndoRun plans the inverse of a run and leads to the plan.
func (s *Site) postUndoRun(w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	if err := parseForm(r); err != nil {
		return err
	}
	p, err := s.deps.Actions.Undo(r.Context(), auth.From(r.Context()), id, r.PostForm.Get("reason"))
	if err != nil {
		return s.runProblem(w, r, id, err)
	}
	seeOther(w, "/plans/"+p.ID)
	return nil
}

// postFinishRun plans what is left of a run that has ended early and leads to the
// plan.
func (s *Site) postFinishRun(w http.ResponseWriter, r *http.Request) error {
	id, err := recordID(r)
	if err != nil {
		return err
	}
	p, err := s.deps.Actions.Finish(r.Context(), auth.From(r.Context()), id, "")
	if err != nil {
		return s.runProblem(w, r, id, err)
	}
	seeOther(w, "/plans/"+p.ID)
	return nil
}

// runProblem shows the run with why the request was refused.
func (s *Site) runProblem(w http.ResponseWriter, r *http.Request, id string, err error) error {
	run, gone := s.deps.Actions.RunByID(r.Context(), id)
	if gone != nil {
		return err
	}
	var text string
	return s.problem(w, err, &text, func(status int) error { return s.writeRun(w, r, status, run, text) })
}
