package logbook

import (
	"context"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/param"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// HistoryQuery chooses changes of a time span, [From, To).
type HistoryQuery struct {
	From, To time.Time
	NS       topology.Namespace // "" for all; changes of no collection are included
	Internal bool               // with the server's own collections
	Limit    int
	Cursor   string // "" for the first page
}

// Parameters are those of the address but the times.
func (q *HistoryQuery) Parameters() param.List {
	return param.List{
		param.Text(&q.NS, "ns", "of this collection; what is about no collection too"),
		answer.ShowInternal(&q.Internal),
		param.Cursor(&q.Cursor),
		param.Limit(&q.Limit),
	}
}

// History lists what happened in a time span, oldest first.
func History(ctx context.Context, v answer.View, kept *history.Past, q HistoryQuery) (api.History, error) {
	out := api.History{Items: []api.HistoryItem{}, From: q.From, To: q.To}
	ask := history.Query{NS: q.NS, Internal: q.Internal, From: q.From, To: q.To, Limit: q.Limit,
		Runs: OurRuns(v, q.From, q.To), Rounds: v.Table.Rounds}
	if err := resumeHistory(&ask, q.Cursor); err != nil {
		return out, err
	}
	got, err := kept.Timeline(ctx, v.Table.ClusterID, ask)
	if err != nil {
		return out, err
	}
	for _, i := range got.Items {
		out.Items = append(out.Items, historyItem(v, i))
	}
	if !got.Next.IsZero() {
		skip := got.Skip
		if got.Next.Equal(ask.From) {
			skip = max(skip, ask.Skip+len(got.Items))
		}
		out.Next = answer.CursorOf(strconv.FormatInt(got.Next.UnixMilli(), 10) + "." + strconv.Itoa(skip))
	}
	out.Gaps, out.Hidden, out.Unreadable = HistoryGaps(got.Gaps), got.Hidden, got.Unreadable
	begin, err := kept.Begin(ctx, v.Table.ClusterID)
	if err != nil && fault.Of(err) != fault.NotFound {
		return out, err
	}
	out.Begin = api.Time(begin)
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting, topology.PartEvents)
	return out, nil
}

// resumeHistory takes a query to where the page before it ended.
func resumeHistory(q *history.Query, cursor string) error {
	if cursor == "" {
		return nil
	}
	at, skip, _ := strings.Cut(cursor, ".")
	ms, err1 := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.Atoi(skip)
	if err1 != nil || err2 != nil || n < 0 || n > 1e6 || ms < q.From.UnixMilli() || ms > q.To.UnixMilli() {
		return fault.New(fault.Invalid, "This cursor is not from this list.")
	}
	q.From, q.Skip = time.UnixMilli(ms).UTC(), n
	return nil
}

func historyItem(v answer.View, i history.Item) api.HistoryItem {
	if v.Hidden.Texts {
		i.Reason = answer.HideText(i.Reason)
	}
	out := api.HistoryItem{Time: i.At.UTC().Truncate(time.Millisecond), Kind: string(i.Kind), Source: "observed",
		NS: string(i.NS), Subject: i.Subject, From: i.From, To: i.To, Cause: whoDid(i.Cause), Failed: i.Failed}
	if i.Failed && i.Event != nil {
		out.FailureReason = FailureReason(history.Reason{Text: i.Reason, From: i.ReasonFrom, Code: i.ReasonCode})
	}
	out.KeyProject, _ = v.ProjectsOfRange(i.NS, i.RawMin, i.RawMax)
	if c := v.Table.Collection(i.NS); c != nil && !i.Min.IsZero() && i.Key.Equal(c.Key) {
		out.KeyProject, _ = v.KeyProjects(c).Of(i.Min, i.Max)
	}
	out.Min, out.Max = rangeEnd(v, i.Key, i.Min, i.RawMin), rangeEnd(v, i.Key, i.Max, i.RawMax)
	if i.Event != nil {
		e := loggedEvent(v, *i.Event)
		out.Source, out.Event = "changelog", &e
	}
	return out
}

// rangeEnd is a bound by its pattern, or as it was written.
func rangeEnd(v answer.View, p shardkey.Pattern, k shardkey.Key, raw bson.Raw) api.Key {
	if !p.IsZero() && !k.IsZero() {
		return answer.KeyOf(p.Hide(v.Table.Hiding()), k)
	}
	return v.DocumentOf(raw)
}

func whoDid(c history.Cause) *api.Cause {
	if c.By == "" {
		return nil
	}
	return &api.Cause{By: string(c.By), Run: c.Run, Inferred: c.Inferred, Basis: c.Basis, Label: c.Label(), Evidence: c.Evidence()}
}

// HistoryGaps are spans without recording; never nil.
func HistoryGaps(list []history.Gap) []api.HistoryGap {
	return answer.Map(list, func(g history.Gap) api.HistoryGap { return api.HistoryGap{From: g.From.UTC(), To: g.To.UTC()} })
}
