package app

import (
	"context"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/heat"
	"shardboard/internal/history"
	"shardboard/internal/rules"
	"shardboard/internal/topology"
)

const (
	runsPerRead  = 100                // runs per read of the journal
	runsMax      = 2000               // runs that are read at most
	maxRunLength = 7 * 24 * time.Hour // a run that began longer before a time has no command at that time
	runsTimeout  = 5 * time.Second
)

// runLister is the part of the engine that reads runs.
type runLister interface {
	Runs(ctx context.Context, cursor string, limit int) ([]engine.Run, string, error)
	RunByID(ctx context.Context, id string) (engine.Run, error)
	Subscribe() (<-chan struct{}, func())
}

// forEachRun calls f with runs, newest first, until f returns false.
func forEachRun(ctx context.Context, e runLister, f func(engine.Run) bool) error {
	cursor := ""
	for range runsMax / runsPerRead {
		runs, next, err := e.Runs(ctx, cursor, runsPerRead)
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

// ownRuns returns the function that lists shardboard's own move and split commands of a time span,
// so that changelog entries can be attributed to them; nil while actions are off.
func (p *clusterParts) ownRuns() func(from, to time.Time) []history.OurRun {
	if p.engine == nil {
		return nil
	}
	return func(from, to time.Time) []history.OurRun {
		ctx, cancel := context.WithTimeout(context.Background(), runsTimeout)
		defer cancel()
		var out []history.OurRun
		err := forEachRun(ctx, p.engine, func(r engine.Run) bool {
			for _, s := range r.Steps {
				if s.Sent.IsZero() || s.Sent.After(to) || !s.Ended.IsZero() && s.Ended.Before(from) {
					continue
				}
				out = append(
					out,
					history.OurRun{ID: r.ID, NS: s.NS, Min: s.Min, Max: s.Max, To: target(s.Step), Start: s.Sent, End: s.Ended, Error: s.Error},
				)
			}
			return r.Started.After(from.Add(-maxRunLength))
		})
		if err != nil {
			p.log.Warn("read runs for the changelog", "error", err)
		}
		return out
	}
}

// target is the shard a step moves data to; "" when it moves nothing.
func target(s operation.Step) string {
	if s.Migrates() {
		return s.Shard
	}
	return ""
}

// pinsOfPlans returns the function that reads owner and expiry of pins from the plans that made
// them; nil while actions are off.
func (p *clusterParts) pinsOfPlans() func(context.Context, string) (map[string]rules.Pin, error) {
	if p.pins == nil {
		return nil
	}
	return p.pins.latest
}

// writeRates gives plans the write rate of a project.
type writeRates struct{ heat *heat.Collector }

// WriteRate is the rate of the last five minutes; false where writes are not counted.
func (w writeRates) WriteRate(ns topology.Namespace, project string) (float64, bool) {
	window := w.heat.Window(ns, 5*time.Minute)
	if window.Method == heat.ChangedRows {
		return 0, false // updates in place add no rows
	}
	for _, l := range window.Projects() {
		if l.Project.Hex() == project {
			return l.Rate.PerSecond, true
		}
	}
	return 0, window.Seconds > 0 && window.Total.Exact
}
