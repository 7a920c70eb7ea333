package engine

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/fault"
	"shardboard/internal/topology"
)

// countTime limits the time of all counts that a run makes together.
const countTime = 5 * time.Second

// RowsPending is the reason of a figure that is still to be counted.
const RowsPending = "pending"

// Why rows were not counted; "notPermitted" and "unreachable" as of any figure.
const (
	rowsTooMany     = "tooMany"     // more than actions.MostCounted
	rowsTooSlow     = "tooSlow"     // not in countTime
	rowsInterrupted = "interrupted" // the run was stopped, or the process ended
	rowsNothingSent = "nothingSent" // there is nothing to compare
	rowsNoBefore    = "noBefore"    // after, when before is not known
)

// RowCount is how many rows of a project a collection had before the first
// command and after the last proof. Applications write meanwhile, so a difference
// is not a failure; the rate of their writes is shown beside it, where it is known.
type RowCount struct {
	actions.Rows
	Before, After topology.Figure // known ones are exact
	Writes        Rate
}

// Rate is rows a second.
type Rate struct {
	PerSecond float64
	Known     bool
}

// Difference is by how much it has grown; false unless both were counted.
func (c RowCount) Difference() (int64, bool) {
	return c.After.Value - c.Before.Value, c.Before.Known && c.After.Known
}

// Took is the time between the counts; 0 unless both were made.
func (c RowCount) Took() time.Duration {
	if _, both := c.Difference(); !both {
		return 0
	}
	return c.After.At.Sub(c.Before.At)
}

// toCount are a plan's rows before anything is counted.
func toCount(rows []actions.Rows) []RowCount {
	var out []RowCount
	not := topology.Figure{Reason: RowsPending}
	for _, r := range rows {
		out = append(out, RowCount{Rows: r, Before: not, After: not})
	}
	return out
}

// countBefore keeps the counts in memory; they are saved with the first intent. A
// request to stop ends it.
func (x *execution) countBefore() {
	rows := x.now().Rows
	if len(rows) == 0 || x.e.o.Counter == nil {
		return
	}
	figures := x.count(rows)
	x.show(func(r *Run) {
		r.Rows = slices.Clone(rows)
		for i := range r.Rows {
			r.Rows[i].Before = figures[i]
		}
	})
}

// countAfter is the run's rows as they are at its end.
func (x *execution) countAfter() []RowCount {
	run := x.now()
	rows := slices.Clone(run.Rows)
	if len(rows) == 0 || x.e.o.Counter == nil {
		return rows
	}
	sent := slices.ContainsFunc(run.Steps, func(s Step) bool { return !s.Sent.IsZero() })
	known := slices.ContainsFunc(rows, func(c RowCount) bool { return c.Before.Known })
	figures := make([]topology.Figure, len(rows))
	if sent && known {
		figures = x.count(rows)
	}
	for i := range rows {
		c := &rows[i]
		if c.Before.Reason == RowsPending {
			c.Before.Reason = rowsInterrupted
		}
		switch c.After = figures[i]; {
		case !sent:
			c.After = topology.Figure{Reason: rowsNothingSent}
		case !c.Before.Known:
			c.After = topology.Figure{Reason: rowsNoBefore}
		case x.e.o.Writes != nil:
			c.Writes.PerSecond, c.Writes.Known = x.e.o.Writes.WriteRate(c.NS, c.Project)
		}
	}
	return rows
}

// count counts all of them at once. A figure that could not be counted has a reason.
func (x *execution) count(rows []RowCount) []topology.Figure {
	ctx, cancel := context.WithTimeout(x.e.life, countTime)
	defer cancel()
	var all sync.WaitGroup
	out := make([]topology.Figure, len(rows))
	for i, c := range rows {
		all.Go(func() { out[i] = x.countOne(ctx, c.Rows) })
	}
	counted := make(chan struct{})
	go func() { all.Wait(); close(counted) }()
	select {
	case <-counted:
	case <-x.toStop():
		cancel()
		<-counted
	}
	return out
}

// toStop is closed when the run is asked to stop. It is nil, which blocks for ever,
// when that has happened before, so that what was done can still be counted.
func (x *execution) toStop() <-chan struct{} {
	if x.stopping() {
		return nil
	}
	return x.stop
}

func (x *execution) countOne(ctx context.Context, r actions.Rows) topology.Figure {
	n, err := x.e.o.Counter.CountUpTo(ctx, r.NS, r.Match, actions.MostCounted)
	switch {
	case err == nil && n > actions.MostCounted:
		return topology.Figure{Reason: rowsTooMany}
	case err == nil:
		return topology.Figure{Known: true, Exact: true, Value: n, Method: "count", At: now()}
	case errors.Is(ctx.Err(), context.Canceled):
		return topology.Figure{Reason: rowsInterrupted}
	case fault.Of(err) == fault.Forbidden:
		return topology.Figure{Reason: "notPermitted"}
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return topology.Figure{Reason: rowsTooSlow}
	}
	return topology.Figure{Reason: "unreachable"}
}
