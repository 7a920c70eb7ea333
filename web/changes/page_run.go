package changes

import (
	"net/http"

	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/web/site"
)

// pageRun is how far a run is and what is proven. Its region follows the run;
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
	m := RunPage{Run: RunModel(s, r.Context(), v, run), Problem: refusal}
	if auth.From(r.Context()).May(auth.Operator) && s.WhyReadOnly() == "" {
		if m.Run.Open {
			m.StopURL = "/runs/" + run.ID + "/stop"
		}
		// Offered as soon as the run ends, without a script's help: the style
		// sheet shows it then.
		m.UndoURL = "/runs/" + run.ID + "/undo"
		m.FinishURL = "/runs/" + run.ID + "/finish"
	}
	return site.WritePage(w, r, status, RunPageView(s.Shell(r, v, "runs", m.Run.Sentence, "run:"+run.ID), m))
}

// postStopRun holds a run before its next command.
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

// postUndoRun plans the inverse of a run and leads to the plan.
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

// postFinishRun plans what is left of a run that has ended early and leads to the
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
