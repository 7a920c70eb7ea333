// Package logbook answers what happened to chunks: the changelog, moves in flight and ended, their failures, and the
// history of a range.
package logbook

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// Activity is one page of the changelog entries that a query chooses, newest first, and the counts
// of all that it chooses. kept may be nil: then only what the table has is searched.
func Activity(ctx context.Context, v answer.View, kept *history.Past, q ActivityQuery) (
	list api.FoldedList[api.Event], out ActivityCounts, err error,
) {
	log, err := readLog(ctx, v, kept, q)
	if err != nil {
		return list, out, err
	}
	_, from, to := answer.EventPageOf(len(log.chosen), q.Page)
	if list.Items, err = log.shown(ctx, log.chosen[from:to]); err != nil {
		return list, out, err
	}
	list.AsOf, list.Stale = answer.AsOf(v, topology.PartEvents)
	out, err = log.counts(ctx, q)
	list.Hidden = log.hidden
	return list, out, err
}

// Events is the changelog as scripts page through it, newest first. New entries come before the
// first page, so a cursor is the time and id of the last entry of the page before.
func Events(ctx context.Context, v answer.View, kept *history.Past, q EventsQuery) (api.FoldedList[api.Event], error) {
	var out api.FoldedList[api.Event]
	if err := answer.CheckRead(v, topology.PartEvents, "The changelog entries"); err != nil {
		return out, err
	}
	log := changelog{v: v, kept: kept, sorted: true}
	from, to := q.Span(v.Now)
	if q.Timed() {
		log.search(from, to)
	}
	if err := log.read(ctx, q.After, q.Limit+1, q.takes, q.Internal); err != nil {
		return out, err
	}
	if chosen := log.chosen; len(chosen) > q.Limit {
		log.chosen = chosen[:q.Limit]
		out.Next = positionOf(chosen[q.Limit-1]).cursor()
	} else if log.until != (logPosition{}) {
		out.Next = log.until.cursor()
	}
	var err error
	out.Items, err = log.shown(ctx, log.chosen)
	out.Hidden = log.hidden
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartEvents)
	return out, err
}

// EventOf is one entry.
func EventOf(v answer.View, x Event) api.Event {
	out := loggedEvent(v, x.Event)
	out.Text, out.From, out.To, out.Outcome = x.Text(), x.From, x.To, x.outcome()
	if x.Min != nil && x.Max != nil {
		out.Range = answer.RangeShown(v, topology.Namespace(x.NS), x.Min, x.Max)
		out.KeyProject = out.Range.From
	} else if v.Table.Collection(topology.Namespace(x.NS)) != nil {
		out.Range.URL = answer.CollectionURL(topology.Namespace(x.NS))
	}
	if x.Failed {
		out.Failed, out.FailureReason = true, FailureReason(x.Why)
	}
	return out
}

// loggedEvent is an entry as the server wrote it.
func loggedEvent(v answer.View, e topology.Event) api.Event {
	return api.Event{ID: e.ID, Time: e.Time.UTC(), What: e.What, NS: e.NS, Shard: e.Shard, Details: v.DetailsOf(e),
		Outcome: ReadEvent(e).outcome()}
}

// logPosition is the place of an entry in the log: by time, then by id.
type logPosition struct {
	at int64 // ms since 1970
	id string
}

func positionOf(e topology.Event) logPosition { return logPosition{e.Time.UnixMilli(), e.ID} }

func (p logPosition) cursor() api.Cursor {
	return answer.CursorOf(strconv.FormatInt(p.at, 10) + "." + p.id)
}

// newerThan tells whether a place comes before another, newest first.
func (p logPosition) newerThan(o logPosition) bool {
	return cmp.Or(cmp.Compare(p.at, o.at), strings.Compare(p.id, o.id)) > 0
}

// EventsQuery chooses entries for scripts.
type EventsQuery struct {
	NS       string // exactly
	What     string // exactly, or "moveChunk." for every step of a move
	Kind     string // of ActivityKinds; "" is all
	Shard    string // from, to or written by this one
	Outcome  string // committed or failed; "" for all
	Internal bool   // with the server's own collections
	Limit    int
	After    logPosition // the last entry of the page before; zero: from the newest on
	LogTime
}

// Parameters are those of the address of the list.
func (q *EventsQuery) Parameters() param.List {
	return slices.Concat(kindAndOutcome(&q.Kind, &q.Outcome, &q.Shard), q.LogTime.Parameters(), param.List{
		param.Text(&q.NS, "ns", "of this namespace"),
		param.Text(&q.What, "what", "this kind of entry, or a prefix that ends in a dot"),
		param.CursorBy(func(key string) error {
			ms, id, _ := strings.Cut(key, ".")
			at, err := strconv.ParseInt(ms, 10, 64)
			if err != nil {
				return fault.New(fault.Invalid, "This cursor is not from this list.")
			}
			q.After = logPosition{at, id}
			return nil
		}),
		param.Limit(&q.Limit),
		answer.ShowInternal(&q.Internal),
		param.Check(func() error {
			q.Internal = q.Internal || answer.AsksInternal(q.NS)
			return nil
		}),
	})
}

func (q EventsQuery) takes(x Event) bool {
	if q.NS != "" && x.NS != q.NS || !x.isOn(q.Shard) || !hasOutcome(x, q.Outcome) {
		return false
	}
	if q.Kind != "" && q.Kind != "all" && q.Kind != x.Kind() {
		return false
	}
	return q.What == "" || x.What == q.What || strings.HasSuffix(q.What, ".") && strings.HasPrefix(x.What, q.What)
}

// sortedLog sorts entries newest first, as positions do, and keeps each once.
func sortedLog(list []topology.Event) []topology.Event {
	slices.SortStableFunc(list, func(a, b topology.Event) int {
		return cmp.Or(b.Time.Compare(a.Time), strings.Compare(b.ID, a.ID))
	})
	return slices.CompactFunc(list, func(a, b topology.Event) bool { return a.ID == b.ID })
}

// within tells whether an entry is of a time; zero ends are open.
func within(e topology.Event, from, to time.Time) bool {
	return (from.IsZero() || !e.Time.Before(from)) && (to.IsZero() || e.Time.Before(to))
}
