package web

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// apiHistory lists what happened in a time, oldest first.
func (s *Site) apiHistory(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loaded(r)
	if err != nil {
		return err
	}
	if err := s.keepsHistory(v); err != nil {
		return err
	}
	q := r.URL.Query()
	limit, err := limitOf(q)
	if err != nil {
		return err
	}
	from, to, err := s.twoTimes(r, v)
	if err != nil {
		return err
	}
	out := api.History{Items: []api.HistoryItem{}, Gaps: []api.HistoryGap{}, From: from, To: to}
	internal, err := internalOf(q)
	if err != nil {
		return err
	}
	ask := history.Query{NS: topology.Namespace(q.Get("ns")), Internal: internal, From: from, To: to, Limit: limit, Runs: v.runs(from, to), Rounds: v.Table.Rounds}
	if err := goOn(r, &ask); err != nil {
		return err
	}
	got, err := s.deps.History.Timeline(r.Context(), v.Table.ClusterID, ask)
	if err != nil {
		return err
	}
	for _, i := range got.Items {
		out.Items = append(out.Items, itemOf(v, i))
	}
	if !got.Next.IsZero() {
		skip := got.Skip
		if got.Next.Equal(ask.From) {
			skip = max(skip, ask.Skip+len(got.Items))
		}
		out.Next = cursorOf(strconv.FormatInt(got.Next.UnixMilli(), 10) + "." + strconv.Itoa(skip))
	}
	out.Gaps, out.Hidden = gapsOf(got.Gaps), got.Hidden
	out.Unreadable = got.Unreadable
	begin, err := s.deps.History.Begin(r.Context(), v.Table.ClusterID)
	if err != nil && fault.Of(err) != fault.NotFound {
		return err
	}
	out.Begin = api.Time(begin)
	out.AsOf, out.Stale = asOf(v, topology.PartRouting, topology.PartEvents)
	return writeJSON(w, http.StatusOK, out)
}

// goOn takes a query to where the page before it ended.
func goOn(r *http.Request, q *history.Query) error {
	key, given, err := cursorKey(r.URL.Query())
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

func itemOf(v View, i history.Item) api.HistoryItem {
	if v.Hidden.texts {
		i.Reason = hideText(i.Reason)
	}
	out := api.HistoryItem{Time: i.At.UTC().Truncate(time.Millisecond), Kind: string(i.Kind), Source: "observed", NS: string(i.NS), Subject: i.Subject,
		From: i.From, To: i.To, Cause: whoDid(i.Cause), Failed: i.Failed}
	if i.Failed && i.Event != nil {
		out.FailureReason = failureReason(history.Reason{Text: i.Reason, From: i.ReasonFrom, Code: history.CodeOf(i.Reason)})
	}
	out.Min, out.Max = rangeEnd(v, i.Key, i.Min, i.RawMin), rangeEnd(v, i.Key, i.Max, i.RawMax)
	if i.Event != nil {
		e := eventOf(v, *i.Event)
		out.Source, out.Event = "changelog", &e
	}
	return out
}

// rangeEnd is a bound by its pattern, or as it was written.
func rangeEnd(v View, p shardkey.Pattern, k shardkey.Key, raw bson.Raw) api.Key {
	if !p.IsZero() && !k.IsZero() {
		return keyOf(p.Hide(v.Table.Hiding()), k)
	}
	return v.document(raw)
}

func whoDid(c history.Cause) *api.Cause {
	if c.By == "" {
		return nil
	}
	return &api.Cause{By: string(c.By), Run: c.Run, Inferred: c.Inferred, Basis: c.Basis}
}

func gapsOf(list []history.Gap) []api.HistoryGap {
	out := []api.HistoryGap{}
	for _, g := range list {
		out = append(out, api.HistoryGap{From: g.From.UTC(), To: g.To.UTC()})
	}
	return out
}

// apiCompare tells what became different between two times.
func (s *Site) apiCompare(w http.ResponseWriter, r *http.Request) error {
	v, err := s.loaded(r)
	if err != nil {
		return err
	}
	if err := s.keepsHistory(v); err != nil {
		return err
	}
	from, to, err := s.twoTimes(r, v)
	if err != nil {
		return err
	}
	before, err := s.viewOf(r.Context(), v, from)
	if err != nil {
		return err
	}
	after, err := s.viewOf(r.Context(), v, to)
	if err != nil {
		return err
	}
	gaps, err := s.deps.History.Gaps(r.Context(), v.Table.ClusterID, from, to)
	if err != nil {
		return err
	}
	internal, err := internalOf(r.URL.Query())
	if err != nil {
		return err
	}
	out := comparisonOf(after, history.Compare(before.Table, after.Table, internal))
	out.From, out.To, out.Gaps = from, to, gapsOf(gaps)
	return writeJSON(w, http.StatusOK, out)
}

// changesListed is how many changes of one collection an answer has.
const changesListed = 1000

func comparisonOf(after View, c history.Comparison) api.Comparison {
	out := api.Comparison{Collections: []api.CollectionChange{}, Shards: []api.ShardChange{}, ZonesAdded: []api.ZoneChange{}, ZonesGone: []api.ZoneChange{}, Hidden: c.Hidden}
	for _, x := range c.Collections {
		row := api.CollectionChange{NS: string(x.NS), What: "changed", Moved: x.Moved, Split: x.Split, Merged: x.Merged, Changes: []api.RangeChange{}}
		switch {
		case x.Created:
			row.What = "created"
		case x.Dropped:
			row.What = "dropped"
		case x.Reloaded:
			row.What = "reloaded"
		}
		coll := after.Table.Collection(x.NS)
		for _, ch := range x.Changes[:min(len(x.Changes), changesListed)] {
			row.Changes = append(row.Changes, api.RangeChange{Kind: string(ch.Kind), Min: keyOf(coll.Key, ch.Min), Max: keyOf(coll.Key, ch.Max), From: ch.From, To: ch.To})
		}
		row.More = len(x.Changes) - len(row.Changes)
		out.Collections = append(out.Collections, row)
	}
	for _, x := range c.Shards {
		out.Shards = append(out.Shards, api.ShardChange{Shard: x.Shard, ChunksBefore: x.ChunksBefore, ChunksAfter: x.ChunksAfter,
			BytesBefore: figureOf(x.BytesBefore), BytesAfter: figureOf(x.BytesAfter)})
	}
	zones := func(list []topology.ZoneRange, into *[]api.ZoneChange) {
		for _, z := range list {
			*into = append(*into, api.ZoneChange{NS: string(z.NS), Zone: z.Zone, Min: after.document(z.RawMin), Max: after.document(z.RawMax)})
		}
	}
	zones(c.Zones.Added, &out.ZonesAdded)
	zones(c.Zones.Removed, &out.ZonesGone)
	return out
}
