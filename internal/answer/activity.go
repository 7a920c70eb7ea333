package answer

import (
	"net/url"
	"slices"
	"strings"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// Activity is one page of the changelog entries that a query chooses, newest
// first, and how many it chooses altogether.
func Activity(v View, q ActivityQuery) (list api.FoldedList[api.Event], matching int) {
	chosen, hidden := changelogEntries(v, q.takes, q.Internal || asksInternal(q.NS))
	_, from, to := PageOf(len(chosen), q.Page)
	list.Items, list.Hidden = eventsOf(v, chosen[from:to]), hidden
	list.AsOf, list.Stale = AsOf(v, topology.PartEvents)
	return list, len(chosen)
}

// Events is the changelog as scripts page through it, newest first. New entries
// come before the first page, so a cursor is the next entry's own id.
func Events(v View, q EventsQuery) (api.FoldedList[api.Event], error) {
	var out api.FoldedList[api.Event]
	if err := CheckRead(v, topology.PartEvents, "The changelog entries"); err != nil {
		return out, err
	}
	chosen, hidden := changelogEntries(v, q.takes, q.Internal)
	if q.Paged {
		first := slices.IndexFunc(v.Table.Events, func(e topology.Event) bool { return e.ID == q.First })
		if first < 0 {
			return out, fault.New(fault.Conflict, "The entry at this cursor is no longer kept. Start again without a cursor.")
		}
		chosen = slices.DeleteFunc(chosen, func(i int) bool { return i < first })
	}
	if len(chosen) > q.Limit {
		out.Next = CursorOf(v.Table.Events[chosen[q.Limit]].ID)
		chosen = chosen[:q.Limit]
	}
	out.Items, out.Hidden = eventsOf(v, chosen), hidden
	out.AsOf, out.Stale = AsOf(v, topology.PartEvents)
	return out, nil
}

// changelogEntries are the positions of the entries that takes chooses. hidden
// is how many more there are about the server's own collections.
func changelogEntries(v View, takes func(Event) bool, internal bool) (chosen []int, hidden int) {
	for i, e := range v.Table.Events {
		switch {
		case !takes(ReadEvent(e)):
		case !internal && e.Internal():
			hidden++
		default:
			chosen = append(chosen, i)
		}
	}
	return chosen, hidden
}

// eventsOf are the entries at positions of the changelog.
func eventsOf(v View, positions []int) []api.Event {
	if len(positions) == 0 {
		return nil
	}
	reasons := v.Reasons()
	out := make([]api.Event, 0, len(positions))
	for _, i := range positions {
		out = append(out, EventOf(v, ReadEvent(v.Table.Events[i]).Because(reasons)))
	}
	return out
}

// EventOf is one entry.
func EventOf(v View, x Event) api.Event {
	out := loggedEvent(v, x.Event)
	out.Text, out.From, out.To = x.Text(), x.From, x.To
	if x.Min != nil && x.Max != nil {
		out.Range = rangeShown(v, topology.Namespace(x.NS), x.Min, x.Max)
	} else if v.Table.Collection(topology.Namespace(x.NS)) != nil {
		out.Range.URL = CollectionURL(topology.Namespace(x.NS))
	}
	if x.Failed {
		out.Failed, out.FailureReason = true, failureReason(x.Why)
	}
	return out
}

// loggedEvent is an entry as the server wrote it.
func loggedEvent(v View, e topology.Event) api.Event {
	return api.Event{ID: e.ID, Time: e.Time.UTC(), What: e.What, NS: e.NS, Shard: e.Shard, Details: v.details(e)}
}

// EventsQuery chooses entries for scripts.
type EventsQuery struct {
	NS       string // exactly
	What     string // exactly, or "moveChunk." for every step of a move
	Internal bool   // with the server's own collections
	Limit    int
	Paged    bool
	First    string // Paged: id of the entry to begin at
}

// ParseEventsQuery reads the parameters of an address.
func ParseEventsQuery(in url.Values) (EventsQuery, error) {
	q := EventsQuery{NS: in.Get("ns"), What: in.Get("what")}
	var err error
	if q.Limit, err = ParseLimit(in); err != nil {
		return q, err
	}
	if q.First, q.Paged, err = CursorKey(in); err != nil {
		return q, err
	}
	q.Internal, err = ParseInternal(in)
	q.Internal = q.Internal || asksInternal(q.NS)
	return q, err
}

func (q EventsQuery) takes(x Event) bool {
	if q.NS != "" && x.NS != q.NS {
		return false
	}
	return q.What == "" || x.What == q.What || strings.HasSuffix(q.What, ".") && strings.HasPrefix(x.What, q.What)
}
