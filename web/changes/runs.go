package changes

import (
	"net/http"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/format"
	"shardboard/web/site"
	"shardboard/web/templates"
)

// runsPage is a list of runs with its filter.
type runsPage struct {
	Now      time.Time
	State    api.State // instead of rows
	States   []templates.Option
	Kinds    []templates.Option
	By       string
	Filtered bool
	Rows     []api.Run
	Older    string
	Bounded  string
	NewURL   string // where a change can be begun; "" for who may not
}

// PageRuns is what was changed from here, newest first.
func PageRuns(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	q, err := answer.RunsQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v := s.ViewFor(r)
	m := runsPage{Now: v.Now, By: q.By, Filtered: q.State+q.Kind+q.By != ""}
	for _, state := range answer.RunStates() {
		m.States = append(m.States, templates.Option{Value: state, Text: stateChoice(state), Selected: state == q.State})
	}
	m.Kinds = []templates.Option{{Text: "any", Selected: q.Kind == ""}}
	for _, k := range actions.Descriptions() {
		m.Kinds = append(m.Kinds, templates.Option{Value: string(k.Kind), Text: k.Title, Selected: string(k.Kind) == q.Kind})
	}
	cursor, looked := q.Cursor, 0
	for len(m.Rows) < answer.PageRows {
		runs, next, err := s.Deps.Actions.Runs(r.Context(), cursor, answer.PageRows)
		if err != nil {
			return err
		}
		for _, run := range runs {
			if q.Takes(run) {
				m.Rows = append(m.Rows, answer.RunOf(v, run))
			}
		}
		cursor, looked = next, looked+len(runs)
		if next == "" {
			break
		}
		if looked >= answer.RunsLooked {
			m.Bounded = "Looked through " + format.Count(int64(looked)) + " runs; older ones follow with “Older”."
			break
		}
	}
	if cursor != "" {
		m.Older = q.Url(cursor)
	}
	if len(m.Rows) == 0 {
		m.State = api.State{
			Code:   "empty",
			Title:  "Nothing was changed from here yet",
			Detail: "Chunks, projects, shards and zones offer their changes on their own pages.",
		}
		if m.Filtered {
			m.State.Title, m.State.Detail = "No run matches the filter", ""
		}
	}
	if auth.From(r.Context()).May(auth.Operator) && s.WhyReadOnly() == "" {
		m.NewURL = "/plans/new"
	}
	return site.WritePage(w, r, http.StatusOK, RunsPage(s.Shell(r, v, "runs", "Runs"), m))
}

// stateChoice is a choice of the filter by state.
func stateChoice(state string) string {
	switch state {
	case "":
		return "any"
	case "open":
		return "not ended"
	}
	return engine.State(state).Label()
}
