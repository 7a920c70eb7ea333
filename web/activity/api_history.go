package activity

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/site"
)

// apiHistory lists what happened in a time, oldest first.
func ApiHistory(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	if err := s.KeepsHistory(v); err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := answer.LimitOf(q)
	if err != nil {
		return err
	}
	from, to, err := twoTimes(s, r, v)
	if err != nil {
		return err
	}
	out := api.History{Items: []api.HistoryItem{}, Gaps: []api.HistoryGap{}, From: from, To: to}
	internal, err := answer.InternalOf(q)
	if err != nil {
		return err
	}
	ask := history.Query{NS: topology.Namespace(q.Get("ns")), Internal: internal, From: from, To: to, Limit: limit, Runs: v.OurRuns(from, to), Rounds: v.Table.Rounds}
	if err := goOn(r, &ask); err != nil {
		return err
	}
	got, err := s.Deps.History.Timeline(r.Context(), v.Table.ClusterID, ask)
	if err != nil {
		return err
	}
	for _, i := range got.Items {
		out.Items = append(out.Items, answer.ItemOf(v, i))
	}
	if !got.Next.IsZero() {
		skip := got.Skip
		if got.Next.Equal(ask.From) {
			skip = max(skip, ask.Skip+len(got.Items))
		}
		out.Next = answer.CursorOf(strconv.FormatInt(got.Next.UnixMilli(), 10) + "." + strconv.Itoa(skip))
	}
	out.Gaps, out.Hidden = answer.GapsOf(got.Gaps), got.Hidden
	out.Unreadable = got.Unreadable
	begin, err := s.Deps.History.Begin(r.Context(), v.Table.ClusterID)
	if err != nil && fault.Of(err) != fault.NotFound {
		return err
	}
	out.Begin = api.Time(begin)
	out.AsOf, out.Stale = answer.AsOf(v, topology.PartRouting, topology.PartEvents)
	return site.WriteJSON(w, http.StatusOK, out)
}

// goOn takes a query to where the page before it ended.
func goOn(r *http.Request, q *history.Query) error {
	key, given, err := answer.CursorKey(r.URL.Query())
	if err != nil || !given {
		return err
	}
	at, skip, _ := strings.Cut(key, ".")
	ms, err1 := strconv.ParseInt(at, 10, 64)
	n, err2 := strconv.Atoi(skip)
	if err1 != nil || err2 != nil || n < 0 || n > 1e6 || ms < q.From.UnixMilli() || ms > q.To.UnixMilli() {
		return fault.New(fault.Invalid, "This cursor was not given out by this list.")
	}
	q.From, q.Skip = time.UnixMilli(ms).UTC(), n
	return nil
}

// apiCompare tells what became different between two times.
func ApiCompare(s *site.Site, w http.ResponseWriter, r *http.Request) error {
	v, err := s.Loaded(r)
	if err != nil {
		return err
	}
	if err := s.KeepsHistory(v); err != nil {
		return err
	}
	from, to, err := twoTimes(s, r, v)
	if err != nil {
		return err
	}
	before, err := s.ViewOf(r.Context(), v, from)
	if err != nil {
		return err
	}
	after, err := s.ViewOf(r.Context(), v, to)
	if err != nil {
		return err
	}
	gaps, err := s.Deps.History.Gaps(r.Context(), v.Table.ClusterID, from, to)
	if err != nil {
		return err
	}
	internal, err := answer.InternalOf(r.URL.Query())
	if err != nil {
		return err
	}
	out := answer.ComparisonOf(after, history.Compare(before.Table, after.Table, internal))
	out.From, out.To, out.Gaps = from, to, answer.GapsOf(gaps)
	return site.WriteJSON(w, http.StatusOK, out)
}
