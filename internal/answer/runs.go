package answer

import (
	"net/url"
	"slices"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/sanitize"
)

// runsLooked bounds how many runs one page looks through for its filter.
const RunsLooked = 1000

// runsQuery filters the list of runs. The zero value is all of them.
type RunsQuery struct {
	State, Kind, By, Cursor string
}

// runStates are the choices of the filter; open stands for all that still change.
func RunStates() []string {
	out := []string{"", "open"}
	for _, s := range []engine.State{engine.Planned, engine.Waiting, engine.Running, engine.Unknown, engine.Succeeded, engine.Failed,
		engine.Refused, engine.Stopped, engine.Undone} {
		out = append(out, string(s))
	}
	return out
}

func RunsQueryOf(in url.Values) (q RunsQuery, err error) {
	for name, to := range map[string]*string{"state": &q.State, "kind": &q.Kind, "by": &q.By} {
		if *to, err = text(in, name); err != nil {
			return q, err
		}
	}
	if !slices.Contains(RunStates(), q.State) {
		return q, fault.New(fault.Invalid, "There is no state of a run called %q.", sanitize.Truncate(q.State, 60))
	}
	if q.Kind != "" && !actions.Kind(q.Kind).Known() {
		return q, fault.New(fault.Invalid, "There is no kind of plan called %q.", sanitize.Truncate(q.Kind, 60))
	}
	q.Cursor, _, err = CursorKey(in)
	return q, err
}

func (q RunsQuery) Url(cursor string) string {
	u := url.Values{}
	set(u, "state", q.State)
	set(u, "kind", q.Kind)
	set(u, "by", q.By)
	if cursor != "" {
		u.Set("cursor", string(CursorOf(cursor)))
	}
	return address("/runs", u, 1)
}

func (q RunsQuery) Takes(r engine.Run) bool {
	return (q.Kind == "" || q.Kind == string(r.Kind)) && (q.By == "" || q.By == r.By) &&
		(q.State == "" || q.State == string(r.State) || q.State == "open" && r.State.Open())
}
