package app

import (
	"context"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/heat"
	"shardboard/internal/history"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

const (
	runsAsked = 100                // of one read of the journal
	runsMost  = 2000               // that are looked through at all
	runsLong  = 7 * 24 * time.Hour // a run that began longer before a time has no command in it
	runsWait  = 5 * time.Second
)

// ranRuns is what the engine tells of runs.
type ranRuns interface {
	Runs(ctx context.Context, cursor string, limit int) ([]engine.Run, string, error)
	RunByID(ctx context.Context, id string) (engine.Run, error)
	Subscribe() (<-chan struct{}, func())
}

// eachRun gives runs, newest first, until f has enough.
func eachRun(ctx context.Context, e ranRuns, f func(engine.Run) bool) error {
	cursor := ""
	for range runsMost / runsAsked {
		runs, next, err := e.Runs(ctx, cursor, runsAsked)
		if err != nil {
			return err
		}
		for _, r := range runs {
			if !f(r) {
				return nil
			}
		}
		if next == "" {
			return nil
		}
		cursor = next
	}
	return nil
}

// ourRuns are the commands of ours that moved or cut something in a span of
// time, for who did what the changelog tells; nil while actions are off.
func (a *instance) ourRuns() func(from, to time.Time) []history.OurRun {
	if a.engine == nil {
		return nil
	}
	return func(from, to time.Time) []history.OurRun {
		ctx, cancel := context.WithTimeout(context.Background(), runsWait)
		defer cancel()
		var out []history.OurRun
		err := eachRun(ctx, a.engine, func(r engine.Run) bool {
			for _, s := range r.Steps {
				if s.Sent.IsZero() || s.Sent.After(to) || !s.Ended.IsZero() && s.Ended.Before(from) {
					continue
				}
				out = append(out, history.OurRun{ID: r.ID, NS: s.NS, Min: s.Min, Max: s.Max, To: target(s.Step), Start: s.Sent, End: s.Ended, Error: s.Error})
			}
			return r.Started.After(from.Add(-runsLong))
		})
		if err != nil {
			a.log.Warn("our runs cannot be read", "error", err)
		}
		return out
	}
}

// target is where a step moves something; "" when it moves nothing.
func target(s actions.Step) string {
	if s.Op == actions.OpMove || s.Op == actions.OpMoveRange {
		return s.Shard
	}
	return ""
}

// pinsOfPlans is what the plans that made pins said of them, for advice; nil
// while actions are off: then nothing is known of it.
func (a *instance) pinsOfPlans() func(context.Context, string) (map[string]rules.Pin, error) {
	if a.pins == nil {
		return nil
	}
	return a.pins.latest
}

// writeRates tells runs how fast a project's rows grow meanwhile.
type writeRates struct{ heat *heat.Collector }

// WriteRate is of the last five minutes; not known where writes are not counted.
func (w writeRates) WriteRate(ns topology.Namespace, project string) (float64, bool) {
	window := w.heat.Window(ns, 5*time.Minute)
	if window.Method == heat.ChangedRows {
		return 0, false // rows that are changed in place are no new ones
	}
	for _, l := range window.Projects() {
		if l.Project.Hex() == project {
			return l.Rate.PerSecond, true
		}
	}
	return 0, window.Seconds > 0 && window.Total.Exact
}
