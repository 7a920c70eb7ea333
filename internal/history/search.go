package history

import (
	"context"
	"time"

	"shardboard/internal/fault"
	"shardboard/internal/store"
	"shardboard/internal/topology"
)

// Bounds of one search: how many stored entries it reads, and for how long, looked at after so many.
const (
	searched   = 25_000
	searchTime = 100 * time.Millisecond
	timeEvery  = 500
)

// Found is a part of the stored changelog.
type Found struct {
	Events []topology.Event // newest first
	// Until is the oldest time that was searched, where the search ended before From and before it
	// had as many as it may have; zero: it did not.
	Until  time.Time
	LastID string // of the last entry searched; with Until
}

// Search returns the newest entries of [from, to) that takes chooses, at most limit. It ends early at the bounds of
// one search.
func (p *Past) Search(
	ctx context.Context,
	cluster string,
	from, to time.Time,
	limit int,
	takes func(topology.Event) bool,
) (out Found, err error) {
	read, began, ended := 0, time.Now(), false
	var last store.HistoryEvent
	kept, err := p.kept.Events(ctx, cluster, store.HistoryEvents{From: from, To: to, Limit: limit,
		Without: func(e store.HistoryEvent) bool {
			read++
			last = e
			return !takes(keptEvent(e))
		},
		Enough: func() bool {
			ended = read == searched || read%timeEvery == 0 && time.Since(began) >= searchTime
			return ended
		}})
	if err != nil {
		return out, err
	}
	for _, e := range kept {
		out.Events = append(out.Events, keptEvent(e))
	}
	if ended && len(kept) < limit {
		out.Until, out.LastID = last.At, last.ID
	}
	return out, nil
}

// EventsOf returns the newest stored entries of one collection of [from, to), at most limit.
func (p *Past) EventsOf(
	ctx context.Context,
	cluster string,
	ns topology.Namespace,
	from, to time.Time,
	limit int,
) (out []topology.Event, err error) {
	kept, err := p.kept.Events(ctx, cluster, store.HistoryEvents{NS: string(ns), From: from, To: to, Limit: limit})
	for _, e := range kept {
		out = append(out, keptEvent(e))
	}
	return out, err
}

// EventCounts counts the stored entries of [from, to) in parts of width; all three are whole minutes.
func (p *Past) EventCounts(ctx context.Context, cluster string, from, to time.Time, width time.Duration) ([]store.EventCount, error) {
	return p.kept.EventCounts(ctx, cluster, from, to, width)
}

// EntryCause is who caused an entry that is about no migration: a split or a merge. The zero Cause
// is for entries that have none.
func EntryCause(e topology.Event, runs []OurRun, eras Eras, rounds topology.Rounds) Cause {
	i := loggedItem(store.HistoryEvent{ID: e.ID, At: e.Time, What: e.What, NS: e.NS, Shard: e.Shard, Details: e.Details})
	what := causeKind(i)
	if what == "" {
		return Cause{}
	}
	s := eras.state(i.At, i.NS)
	s.rounds = rounds
	return causeOf(i, what, runs, s)
}

// FirstEvent is the time of the oldest stored entry; fault.NotFound when there is none.
func (p *Past) FirstEvent(ctx context.Context, cluster string) (time.Time, error) {
	list, err := p.kept.Events(ctx, cluster, store.HistoryEvents{Ascending: true, Limit: 1})
	if err != nil {
		return time.Time{}, err
	}
	if len(list) == 0 {
		return time.Time{}, fault.New(fault.NotFound, "No entry of the changelog is kept.")
	}
	return list[0].At, nil
}
