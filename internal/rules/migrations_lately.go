package rules

import (
	"time"

	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// Lately counts the outcomes of the migrations that ended in the last hour, without those
// of the server's own collections.
type Lately struct {
	Moves, Failed int
	Internal      struct{ Moves, Failed int } // of the server's own collections
	Over          time.Duration               // that the changelog held reaches back, at most an hour
	Groups        []history.FailureGroup
	LastFailure   time.Time
	From, To      string // the shard that all that failed were from, or to; "" if there are several
	InARow        int    // how many of the newest all failed
}

// MovesLately reads the migrations of the last hour from a table's changelog. The
// table holds a bounded part of the changelog, so Over may be less than an hour.
func MovesLately(t *topology.Table, now time.Time) Lately {
	out := Lately{Over: failingWindow}
	ours := 0
	var oldest time.Time
	for _, e := range t.Events {
		if !e.Internal() {
			ours, oldest = ours+1, e.Time
		}
	}
	if ours >= mostEvents {
		out.Over = min(out.Over, max(now.Sub(oldest), time.Minute))
	}
	recent := *t
	recent.Events = nil
	for _, e := range t.Events { // newest first; one that ended lately may have begun before
		if now.Sub(e.Time) > 2*failingWindow {
			continue
		}
		recent.Events = append(recent.Events, e)
	}
	var failed []history.Migration
	succeeded := false
	for _, m := range history.Migrations(&recent, now, nil, nil) {
		ended := m.End
		if ended.IsZero() {
			ended = m.Begin
		}
		if now.Sub(ended) > failingWindow {
			continue
		}
		internal := topology.IsInternal(m.NS)
		switch m.Outcome {
		case history.Done, history.Committed:
			if internal {
				out.Internal.Moves++
				continue
			}
			out.Moves++
			succeeded = true
		case history.Aborted:
			if internal {
				out.Internal.Failed++
				continue
			}
			failed = append(failed, m)
			if !succeeded {
				out.InARow++
			}
			if ended.After(out.LastFailure) {
				out.LastFailure = ended
			}
		}
	}
	out.Failed, out.Groups = len(failed), history.Failures(failed)
	out.From = theOne(failed, func(m history.Migration) string { return m.From })
	out.To = theOne(failed, func(m history.Migration) string { return m.To })
	return out
}

// theOne is what all migrations have; "" where they differ.
func theOne(list []history.Migration, of func(history.Migration) string) string {
	for _, m := range list {
		if of(m) != of(list[0]) {
			return ""
		}
	}
	if len(list) == 0 {
		return ""
	}
	return of(list[0])
}

// mostEvents is how many entries of the changelog a table holds at most, but for
// those of the server's own collections.
const mostEvents = 1000
