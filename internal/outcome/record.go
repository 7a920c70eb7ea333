package outcome

import (
	"cmp"
	"slices"
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// Record is what is stored about one run. Stored as JSON; do not rename its fields.
type Record struct {
	Run            string
	Started, Ended time.Time // zero while open
	Collections    []CollectionRecord
	OtherRuns      []string // ids of runs that changed the same collections in the windows or between them
	SameRanges     bool     // one of them changed ranges of this run
	OtherMoves     int      // other migrations of these collections in that time
	MovedAgain     bool     // one of them moved the run's chunks after the run
	Closed         bool     // the measurement has ended
	// Until is when the second window ended early, because an undo of the run began; zero: it did not.
	Until time.Time
	// Since is when the first window begins late, because the writes rose then; zero: it does not.
	Since time.Time
}

// CollectionRecord is one collection of a Record.
type CollectionRecord struct {
	NS            topology.Namespace
	Not           string // why it is not counted; "": it is counted
	Before, After *Counts
}

// separable tells whether what other runs moved can be told from what this one did: they changed other ranges, and the
// writes of the other chunks are known.
func (r *Record) separable() bool {
	return !r.SameRanges && !slices.ContainsFunc(r.Collections, func(c CollectionRecord) bool {
		return c.Before != nil && c.Before.Others == nil || c.After != nil && c.After.Others == nil
	})
}

// toRecord returns the stored form of a measurement.
func (r *Recorder) toRecord(t *topology.Table, k *measurement) *Record {
	before, after := k.windows()
	out := &Record{
		Run:        k.run.ID,
		Started:    k.run.Started,
		Ended:      k.run.Ended,
		OtherRuns:  slices.Clone(k.otherRuns),
		SameRanges: k.sameRanges,
		OtherMoves: k.otherMoves,
		MovedAgain: k.movedAgain,
		Closed:     k.closed,
		Until:      k.until,
		Since:      k.onset(before),
	}
	before.From = cmp.Or(out.Since, before.From)
	for _, ns := range k.scope.namespaces() {
		c := CollectionRecord{NS: ns}
		if how, known := heat.CoverageOf(t, r.opts.Profile, ns); !known {
			c.Not = reasonGone
		} else {
			c.Not = string(how.Not)
		}
		spans := k.scope.spans[ns]
		earlier := k.countedEarlier(ns)
		c.Before = earlier.Before.plus(countWindow(k.before[ns], before, spans, k.run.Started))
		c.After = earlier.After.plus(countWindow(k.after[ns], after, spans, time.Time{}))
		if c.Before != nil || c.After != nil {
			c.Not = "" // it was counted, even if it no longer can be
		}
		out.Collections = append(out.Collections, c)
	}
	return out
}

// minutesAfter is how many minutes of the second window were counted, of the collection with the most.
func (r *Record) minutesAfter() (n int) {
	for _, c := range r.Collections {
		if c.After != nil {
			n = max(n, int(c.After.Seconds/time.Minute.Seconds()))
		}
	}
	return n
}
