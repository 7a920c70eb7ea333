package data

import (
	"cmp"
	"context"
	"slices"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/answer/logbook"
	"shardboard/internal/api"
	"shardboard/internal/history"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

const (
	ownersReach  = 24 * time.Hour // how far back the owners of a chunk are listed
	ownerChanges = 2000           // of the collection, read from the history for that
)

// ChunkOwners is which shard had a chunk's lower bound in the last day: from now backwards, as far
// as the recorded history, the changelog and the chunk's own time of arrival tell.
func ChunkOwners(ctx context.Context, v answer.View, kept *history.Past, c *topology.Collection, ch topology.Chunk) api.ChunkOwners {
	out := api.ChunkOwners{To: v.Now.UTC(), From: v.Now.Add(-ownersReach).UTC(), Spans: []api.ChunkOwner{}, Marks: []api.ChunkMark{}}
	changes, since := loggedChanges(v, c, ch)
	if kept != nil {
		more, begin, ok := recordedChanges(ctx, v, kept, c, ch, out.From, out.To)
		if ok {
			changes = append(changes, more...)
			if since.IsZero() || begin.Before(since) {
				since = begin
			}
		}
	}
	// A move is both observed and logged: the same move within two minutes is one.
	slices.SortStableFunc(changes, func(a, b logbook.RangeChange) int { return b.At.Compare(a.At) })
	owner, until := ch.Shard, out.To
	add := func(shard string, from, to time.Time) {
		if from.Before(out.From) {
			from = out.From
		}
		if from.Before(to) {
			out.Spans = append(out.Spans, api.ChunkOwner{Shard: shard, From: from.UTC(), To: to.UTC()})
		}
	}
	for _, x := range changes {
		if !x.At.After(out.From) || x.At.After(out.To) {
			continue
		}
		switch {
		case x.What != "moved":
			if n := len(out.Marks); n == 0 || out.Marks[n-1].What != x.What || out.Marks[n-1].At.Sub(x.At) > sameChange {
				out.Marks = append(out.Marks, api.ChunkMark{At: x.At.UTC(), What: x.What})
			}
		case x.To == owner && x.From != owner:
			add(owner, x.At, until)
			owner, until = x.From, x.At
		}
	}
	slices.Reverse(out.Marks)
	// Before the oldest known move the chunk's arrival, or the begin of what is recorded, is the limit.
	known := since
	if arrived := api.Instant(ch.Since); len(out.Spans) == 0 && arrived != nil && (known.IsZero() || arrived.Before(known)) {
		known = *arrived
	}
	if known.IsZero() || known.After(until) {
		known = until
	}
	// The strip begins a little before what is known, at most a day ago.
	if begin := known.Add(-max(out.To.Sub(known)/10, time.Minute)).UTC(); begin.After(out.From) {
		out.From = begin
	}
	add(owner, known, until)
	add("", out.From, known)
	slices.Reverse(out.Spans)
	out.Marks = slices.DeleteFunc(out.Marks, func(m api.ChunkMark) bool { return m.At.Before(out.From) })
	return out
}

// sameChange is within which time an observed and a logged change are the same.
const sameChange = 2 * time.Minute

// loggedChanges are those in the changelog that the table has, of ranges with a chunk's lower bound, and since when
// it has all.
func loggedChanges(v answer.View, c *topology.Collection, ch topology.Chunk) (out []logbook.RangeChange, since time.Time) {
	events := v.Table.Events
	if len(events) > 0 {
		since = events[len(events)-1].Time
	}
	born := time.Unix(int64(c.Incarnation.Timestamp.T), 0)
	for _, e := range events {
		if e.NS != string(c.NS) || c.Incarnation.Timestamp.T > 0 && e.Time.Before(born) {
			continue
		}
		if x, ok := logbook.ReadRangeChange(c, e); ok && x.Span.Contains(ch.Min) {
			out = append(out, x)
		}
	}
	if c.Incarnation.Timestamp.T > 0 && since.Before(born) {
		since = born // there was no such chunk before
	}
	return out, since
}

// recordedChanges are those that this program has recorded, and since when.
func recordedChanges(ctx context.Context, v answer.View, kept *history.Past, c *topology.Collection, ch topology.Chunk,
	from, to time.Time) (out []logbook.RangeChange, since time.Time, ok bool) {
	begin, err := kept.Begin(ctx, v.Table.ClusterID)
	if err != nil {
		return nil, since, false
	}
	got, err := kept.Timeline(ctx, v.Table.ClusterID, history.Query{NS: c.NS, From: from, To: to, Limit: ownerChanges})
	if err != nil || !got.Next.IsZero() || got.Unreadable > 0 { // what is missing would make a wrong owner
		return nil, since, false
	}
	for _, i := range got.Items {
		switch {
		case i.Kind == history.CollectionRemade || i.Kind == history.CollectionCreated:
			begin = i.At // chunks before that were others
			out = nil
		case i.Kind == history.Logged && i.Event != nil && !i.Failed:
			if x, is := logbook.ReadRangeChange(c, *i.Event); is && x.Span.Contains(ch.Min) {
				out = append(out, x)
			}
		case i.Min.IsZero() || !(shardkey.Range{Min: i.Min, Max: i.Max}).Contains(ch.Min):
		case i.Kind == history.Moved:
			out = append(out, logbook.RangeChange{At: i.At, What: "moved", From: i.From, To: i.To})
		case i.Kind == history.Split || i.Kind == history.Merged:
			out = append(out, logbook.RangeChange{At: i.At, What: cmp.Or(map[history.Kind]string{history.Split: "split"}[i.Kind], "merge")})
		}
	}
	return out, begin, true
}
