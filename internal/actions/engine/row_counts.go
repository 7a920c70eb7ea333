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

// countTimeout limits the time of all counts together.
const countTimeout = 5 * time.Second

// Reasons why rows are not counted, in addition to "notPermitted" and
// "unreachable".
const (
	rowsPending     = "pending"     // still to be counted
	rowsTooMany     = "tooMany"     // more than actions.MostCounted
	rowsTooSlow     = "tooSlow"     // longer than countTimeout
	rowsInterrupted = "interrupted" // the run was stopped, or the process ended
	rowsNothingSent = "nothingSent" // there is nothing to compare
	rowsNoBefore    = "noBefore"    // no count afterwards, because the one before is unknown
	rowsNoFilter    = "noFilter"    // of a range that no filter describes
	rowsManyRanges  = "manyRanges"  // the plan moves more ranges than are counted
)

// RowCount is how many rows of a project, or in a moved range, a collection had before the
// first command and after the last proof. Applications write in between, so a difference is not a
// failure; their write rate is shown with it where it is known.
type RowCount struct {
	actions.Rows
	Item          int             `json:",omitempty"` // of a batch, which counted them
	Before, After topology.Figure // exact when known
	Writes        Rate
}

// Rate is a number of rows per second.
type Rate struct {
	PerSecond float64
	Known     bool
}

// Difference is by how many rows the collection has grown. The second result is
// false unless both counts are known.
func (c RowCount) Difference() (int64, bool) {
	return c.After.Value - c.Before.Value, c.Before.Known && c.After.Known
}

// Took is the time between the counts; 0 unless both are known.
func (c RowCount) Took() time.Duration {
	if _, both := c.Difference(); !both {
		return 0
	}
	return c.After.At.Sub(c.Before.At)
}

// uncountedRows are the rows of a plan before anything is counted.
func uncountedRows(rows []actions.Rows) []RowCount {
	var out []RowCount
	not := topology.Figure{Reason: rowsPending}
	for _, r := range rows {
		out = append(out, RowCount{Rows: r, Before: not, After: not})
	}
	return out
}

// countBefore counts the rows and keeps the counts in memory; they are saved with
// the first intent. A request to stop ends the counting.
func (x *execution) countBefore() {
	rows := x.current().Rows
	if len(rows) == 0 || x.e.opts.Counter == nil {
		return
	}
	figures := x.countAll(rows)
	x.updateMemory(func(r *Run) {
		r.Rows = slices.Clone(rows)
		for i := range r.Rows {
			r.Rows[i].Before = figures[i]
		}
	})
}

// countAfter returns the rows of the run with the counts at its end.
func (x *execution) countAfter() []RowCount {
	run := x.current()
	rows := slices.Clone(run.Rows)
	if len(rows) == 0 || x.e.opts.Counter == nil {
		return rows
	}
	sent := slices.ContainsFunc(run.Steps, func(s Step) bool { return !s.Sent.IsZero() })
	known := slices.ContainsFunc(rows, func(c RowCount) bool { return c.Before.Known })
	figures := make([]topology.Figure, len(rows))
	if sent && known {
		figures = x.countAll(rows)
	}
	for i := range rows {
		c := &rows[i]
		if c.Before.Reason == rowsPending {
			c.Before.Reason = rowsInterrupted
		}
		switch c.After = figures[i]; {
		case !sent:
			c.After = topology.Figure{Reason: rowsNothingSent}
		case !c.Before.Known:
			c.After = topology.Figure{Reason: rowsNoBefore}
		case x.e.opts.Writes != nil && c.Project != "":
			c.Writes.PerSecond, c.Writes.Known = x.e.opts.Writes.WriteRate(c.NS, c.Project)
		}
	}
	return rows
}

// countAll counts all rows in parallel. A figure that could not be counted has a
// reason.
func (x *execution) countAll(rows []RowCount) []topology.Figure {
	ctx, cancel := context.WithTimeout(x.ctx, countTimeout)
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
	case <-x.newStopSignal():
		cancel()
		<-counted
	}
	return out
}

func (x *execution) countOne(ctx context.Context, r actions.Rows) topology.Figure {
	switch {
	case r.Match == nil && r.Min == nil:
		return topology.Figure{Reason: rowsManyRanges}
	case r.Match == nil:
		return topology.Figure{Reason: rowsNoFilter}
	}
	n, err := x.e.opts.Counter.CountUpTo(ctx, r.NS, r.Match, actions.MostCounted)
	switch {
	case err == nil && n > actions.MostCounted:
		return topology.Figure{Reason: rowsTooMany}
	case err == nil:
		return topology.Figure{Known: true, Exact: true, Value: n, Method: "count", At: x.e.now()}
	case errors.Is(ctx.Err(), context.Canceled):
		return topology.Figure{Reason: rowsInterrupted}
	case fault.Of(err) == fault.Forbidden:
		return topology.Figure{Reason: "notPermitted"}
	case ctx.Err() != nil || errors.Is(err, context.DeadlineExceeded):
		return topology.Figure{Reason: rowsTooSlow}
	}
	return topology.Figure{Reason: "unreachable"}
}
