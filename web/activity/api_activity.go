package activity

import (
	"net/http"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiActivity lists the changelog, newest first. New entries appear before the
// first page, so the cursor is the next entry's own id.
func ApiActivity(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.LoadedAt(r)
	if err != nil {
		return err
	}
	if err := answer.Known(v, topology.PartEvents, "The changelog entries"); err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := answer.LimitOf(q)
	if err != nil {
		return err
	}
	key, paged, err := answer.CursorKey(q)
	if err != nil {
		return err
	}
	ns, what := q.Get("ns"), q.Get("what")
	internal, err := answer.InternalOf(q)
	if err != nil {
		return err
	}
	internal = internal || answer.AsksInternal(q.Get("ns"))
	reasons := v.Reasons()
	out := api.FoldedList[api.Event]{}
	begun := !paged
	for _, e := range v.Table.Events {
		begun = begun || e.ID == key
		switch {
		case ns != "" && e.NS != ns || what != "" && !answer.IsWhat(e.What, what):
		case !internal && e.Internal():
			out.Hidden++ // of the whole list, whatever the page
		case !begun || out.Next != "":
		case len(out.Items) == limit:
			out.Next = answer.CursorOf(e.ID)
		default:
			out.Items = append(out.Items, answer.FailedEventOf(v, e, reasons))
		}
	}
	if !begun {
		return fault.New(fault.Conflict, "The entry that this cursor points to is too old to be kept; begin again without a cursor.")
	}
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartEvents)
	return site.WriteJSON(w, http.StatusOK, out)
}
