package web

import (
	"net/http"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// apiActivity lists the changelog, newest first. New entries appear before the
// first page, so the cursor is the next entry's own id.
func (s *Site) apiActivity(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loadedAt(r)
	if err != nil {
		return err
	}
	if err := known(v, topology.PartEvents, "The changelog entries"); err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	key, paged, err := cursorKey(q)
	if err != nil {
		return err
	}
	ns, what := q.Get("ns"), q.Get("what")
	internal, err := internalOf(q)
	if err != nil {
		return err
	}
	internal = internal || asksInternal(q.Get("ns"))
	reasons := v.reasons()
	out := api.FoldedList[api.Event]{}
	begun := !paged
	for _, e := range v.Table.Events {
		begun = begun || e.ID == key
		switch {
		case ns != "" && e.NS != ns || what != "" && !isWhat(e.What, what):
		case !internal && e.Internal():
			out.Hidden++ // of the whole list, whatever the page
		case !begun || out.Next != "":
		case len(out.Items) == limit:
			out.Next = cursorOf(e.ID)
		default:
			out.Items = append(out.Items, failedEventOf(v, e, reasons))
		}
	}
	if !begun {
		return fault.New(fault.Conflict, "The entry that this cursor points to is too old to be kept; begin again without a cursor.")
	}
	out.AsOf, out.Stale = asOf(v, topology.PartEvents)
	return writeJSON(w, http.StatusOK, out)
}

// isWhat compares a kind of entry: "moveChunk." means every step of a move.
func isWhat(have, want string) bool {
	return have == want || strings.HasSuffix(want, ".") && strings.HasPrefix(have, want)
}

// failedEventOf is an entry with the reason that its move failed for, if it did.
func failedEventOf(v View, e topology.Event, reasons map[string]history.Reason) api.Event {
	out := eventOf(v, e)
	if x := readEvent(e).because(reasons); x.failed {
		out.Failed, out.FailureReason = true, failureReason(x.why)
	}
	return out
}

func eventOf(v View, e topology.Event) api.Event {
	return api.Event{ID: e.ID, Time: e.Time.UTC(), What: e.What, NS: e.NS, Shard: e.Shard, Details: v.details(e)}
}
