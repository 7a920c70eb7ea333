package logbook

import (
	"bytes"
	"sync"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/history"
	"shardboard/internal/topology"
)

// requesterOf is who asked for a migration: "run", "balancer", "client" or
// "unknown". A run of ours that matches counts more than what the donor reports:
// a program may give itself no name, as the balancer has none.
func requesterOf(x topology.InFlight, runs []history.OurRun) (who, app, run string) {
	for _, r := range runs {
		if isCommandOf(r, x) {
			return "run", x.App, r.ID
		}
	}
	if x.By == "" {
		return "unknown", "", ""
	}
	return string(x.By), x.App, ""
}

// clockSkew is the largest assumed difference between the clocks of servers and ours.
const clockSkew = 30 * time.Second

// isCommandOf tells whether a command of ours started a migration: namespace, lower
// bound, recipient and time are the same.
func isCommandOf(r history.OurRun, x topology.InFlight) bool {
	return r.To != "" && r.NS == x.NS && r.To == x.To && bytes.Equal(r.Min, x.Min) &&
		!x.Since.Before(r.Start.Add(-clockSkew)) && (r.End.IsZero() || !x.Since.After(r.End.Add(clockSkew)))
}

// requestingRuns are the commands of ours that may have started the migrations
// under way; none are looked up while nothing moves.
func requestingRuns(v answer.View, list []topology.InFlight) []history.OurRun {
	if len(list) == 0 {
		return nil
	}
	if v.FlightRuns != nil {
		return v.FlightRuns()
	}
	return runsSince(func(from, to time.Time) []history.OurRun { return OurRuns(v, from, to) }, list, v.Now)
}

func runsSince(runs func(from, to time.Time) []history.OurRun, list []topology.InFlight, now time.Time) []history.OurRun {
	oldest := now
	for _, x := range list {
		if x.Since.Before(oldest) {
			oldest = x.Since
		}
	}
	return runs(oldest.Add(-clockSkew), now.Add(clockSkew))
}

// FlightMemo keeps the commands that were looked up for one table. Each region
// that shows a migration is drawn from them, and the journal is read once.
type FlightMemo struct {
	mu    sync.Mutex
	table *topology.Table
	runs  []history.OurRun
}

// Of are the commands that may have started the migrations of the view's table.
func (m *FlightMemo) Of(v answer.View) []history.OurRun {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.table != v.Table {
		m.table, m.runs = v.Table, runsSince(func(from, to time.Time) []history.OurRun { return OurRuns(v, from, to) }, v.Table.Moves.List, v.Now)
	}
	return m.runs
}
