package changing

import (
	"context"
	"net/url"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// RunsLooked bounds how many runs one answer looks through for its filter.
const RunsLooked = 1000

// RunsQuery filters the list of runs. The zero value is all of them.
type RunsQuery struct {
	State, Kind, By, Cursor string
}

// RunsFound are the runs that a query finds, newest first.
type RunsFound struct {
	Items  []api.Run
	Next   string // where to go on; "" at the end
	Looked int    // runs looked through, if the search stopped before it found enough; else 0
}

// Runs finds up to limit runs. It stops early after many runs that the filter does not
// take, so that a page never reads the whole record.
func Runs(ctx context.Context, v answer.View, kept engine.Service, q RunsQuery, limit int) (RunsFound, error) {
	out, looked := RunsFound{Next: q.Cursor}, 0
	for {
		runs, next, err := kept.Runs(ctx, out.Next, limit)
		if err != nil {
			return out, err
		}
		for _, r := range runs {
			if r.Parent == "" && q.takes(r) { // items are listed with their batch
				out.Items = append(out.Items, RunOf(v, r))
			}
		}
		items := slices.ContainsFunc(runs, func(r engine.Run) bool { return r.Parent != "" })
		out.Next, looked = next, looked+len(runs)
		switch {
		case next == "" || len(out.Items) >= limit || !q.Filters() && !items:
			return out, nil
		case looked >= RunsLooked:
			out.Looked = looked
			return out, nil
		}
	}
}

// Filters tells whether the query leaves runs out.
func (q RunsQuery) Filters() bool { return q.State+q.Kind+q.By != "" }

// RunStates are the choices of the filter; open stands for all that still change.
func RunStates() []string {
	out := []string{"", "open"}
	for _, s := range []engine.State{engine.Planned, engine.Waiting, engine.Running, engine.Unknown, engine.Succeeded, engine.Failed,
		engine.Refused, engine.Stopped, engine.Undone} {
		out = append(out, string(s))
	}
	return out
}

// RunStateChoice names a choice of the filter by state.
func RunStateChoice(state string) string {
	switch state {
	case "":
		return "any"
	case "open":
		return "not ended"
	}
	return engine.State(state).Label()
}

// Parameters are those of the address of the list.
func (q *RunsQuery) Parameters() param.List {
	return param.List{
		param.Of("state", "in this state, or open", func(state string) error {
			if q.State = state; !slices.Contains(RunStates(), state) {
				return fault.New(fault.Invalid, "There is no state of a run called %q.", sanitize.Truncate(state, 60))
			}
			return nil
		}),
		param.Of("kind", "of this kind", func(kind string) error {
			q.Kind = kind
			_, err := actions.KindNamed(kind)
			return err
		}),
		param.Text(&q.By, "by", "of this principal"),
		param.Cursor(&q.Cursor),
	}
}

// RunsListQuery is a part of the list for scripts.
type RunsListQuery struct {
	RunsQuery
	Limit int
}

// Parameters are those of the address of the list.
func (q *RunsListQuery) Parameters() param.List {
	return append(q.RunsQuery.Parameters(), param.Limit(&q.Limit))
}

// URL is the address of the list from a cursor on.
func (q RunsQuery) URL(cursor string) string {
	u := url.Values{}
	answer.SetParameter(u, "state", q.State)
	answer.SetParameter(u, "kind", q.Kind)
	answer.SetParameter(u, "by", q.By)
	if cursor != "" {
		u.Set("cursor", string(answer.CursorOf(cursor)))
	}
	return answer.Address("/runs", u, 1)
}

func (q RunsQuery) takes(r engine.Run) bool {
	return (q.Kind == "" || q.Kind == string(r.Kind)) && (q.By == "" || q.By == r.By) &&
		(q.State == "" || q.State == string(r.State) || q.State == "open" && r.State.Open())
}
