package web

import (
	"net/http"
	"net/url"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/format"
	"shardboard/internal/sanitize"
	"shardboard/web/templates"
	"shardboard/web/words"
)

// runsLooked bounds how many runs one page looks through for its filter.
const runsLooked = 1000

// runsQuery filters the list of runs. The zero value is all of them.
type runsQuery struct {
	State, Kind, By, Cursor string
}

// runStates are the choices of the filter; open stands for all that still change.
func runStates() []string {
	out := []string{"", "open"}
	for _, s := range []engine.State{engine.Planned, engine.Waiting, engine.Running, engine.Unknown, engine.Succeeded, engine.Failed,
		engine.Refused, engine.Stopped, engine.Undone} {
		out = append(out, string(s))
	}
	return out
}

func runsQueryOf(in url.Values) (q runsQuery, err error) {
	for name, to := range map[string]*string{"state": &q.State, "kind": &q.Kind, "by": &q.By} {
		if *to, err = text(in, name); err != nil {
			return q, err
		}
	}
	if !slices.Contains(runStates(), q.State) {
		return q, fault.New(fault.Invalid, "There is no state of a run called %q.", sanitize.Truncate(q.State, 60))
	}
	if q.Kind != "" && !actions.Kind(q.Kind).Known() {
		return q, fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(q.Kind, 60))
	}
	q.Cursor, _, err = cursorKey(in)
	return q, err
}

func (q runsQuery) url(cursor string) string {
	u := url.Values{}
	set(u, "state", q.State)
	set(u, "kind", q.Kind)
	set(u, "by", q.By)
	if cursor != "" {
		u.Set("cursor", string(cursorOf(cursor)))
	}
	return address("/runs", u, 1)
}

func (q runsQuery) takes(r engine.Run) bool {
	return (q.Kind == "" || q.Kind == string(r.Kind)) && (q.By == "" || q.By == r.By) &&
		(q.State == "" || q.State == string(r.State) || q.State == "open" && r.State.Open())
}

// pageRuns is what was changed from here, newest first.
func (s *Site) pageRuns(w http.ResponseWriter, r *http.Request) error {
	q, err := runsQueryOf(r.URL.Query())
	if err != nil {
		return err
	}
	v := s.viewFor(r)
	m := templates.Runs{By: q.By, Filtered: q.State+q.Kind+q.By != ""}
	for _, state := range runStates() {
		m.States = append(m.States, templates.Option{Value: state, Text: words.Code("runs.state", orNone(state), nil), Selected: state == q.State})
	}
	m.Kinds = []templates.Option{{Text: words.T("filter.any"), Selected: q.Kind == ""}}
	for _, k := range actions.Kinds() {
		m.Kinds = append(m.Kinds, templates.Option{Value: string(k), Text: kindWord(k), Selected: string(k) == q.Kind})
	}
	cursor, looked := q.Cursor, 0
	for len(m.Rows) < pageRows {
		runs, next, err := s.deps.Actions.Runs(r.Context(), cursor, pageRows)
		if err != nil {
			return err
		}
		for _, run := range runs {
			if q.takes(run) {
				m.Rows = append(m.Rows, runRow(v, run))
			}
		}
		cursor, looked = next, looked+len(runs)
		if next == "" {
			break
		}
		if looked >= runsLooked {
			m.Bounded = words.T("runs.bounded", "n", format.Count(int64(looked)))
			break
		}
	}
	if cursor != "" {
		m.Older = q.url(cursor)
	}
	if len(m.Rows) == 0 {
		m.State = templates.State{Code: "empty", Title: words.T("runs.none"), Detail: words.T("runs.none.detail")}
		if m.Filtered {
			m.State.Title, m.State.Detail = words.T("runs.nomatch"), ""
		}
	}
	if auth.From(r.Context()).May(auth.Operator) && s.whyReadOnly() == "" {
		m.NewURL = "/plans/new"
	}
	return writePage(w, r, http.StatusOK, templates.RunsPage(s.shell(r, v, "runs", words.T("nav.runs")), m))
}
