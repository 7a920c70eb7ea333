package outcome

import (
	"context"
	"fmt"
	"math"
	"slices"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/fault"
	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// measurement is a run that is being measured. The recorder's lock guards all of it.
type measurement struct {
	run        engine.Run
	scope      scope
	otherRuns  []string
	sameRanges bool // one of them changed ranges of this run
	otherMoves int
	until      time.Time // when the second window ended early; zero: it did not
	movedAgain bool      // others moved the run's chunks after it ended
	before     map[topology.Namespace][]sample
	after      map[topology.Namespace][]sample
	earlier    *Record // what an earlier process counted; nil: nothing
	told       int     // minutes of the second window of which subscribers were told
	dirty      bool
	closed     bool
}

// windows are the run's, the second one cut where an undo began.
func (k *measurement) windows() (before, after Span) {
	before, after = windows(k.run.Started, k.run.Ended)
	return before, after.cut(k.until)
}

// onset is where the writes before a run rose to more than twice those of before, at a full minute; zero where they did
// not. A load that has just begun would be mixed with the quiet time before it.
func (k *measurement) onset(before Span) time.Time {
	if k.earlier != nil {
		return k.earlier.Since // its counts are of that time
	}
	type minute struct{ rows, seconds float64 }
	minutes := make([]minute, int(Window/windowAlignment))
	changed := func(x sample) bool { return x.slot.Method == heat.ChangedRows }
	appended := false
	for _, samples := range k.before {
		appended = appended || !slices.ContainsFunc(samples, changed)
	}
	for _, samples := range k.before {
		if appended && slices.ContainsFunc(samples, changed) {
			continue // it is not in the sums (addCollections)
		}
		counted := make([]float64, len(minutes))
		for _, x := range samples {
			if i := int(x.slot.From.Sub(before.From) / windowAlignment); i >= 0 && i < len(minutes) {
				minutes[i].rows += float64(x.slot.Rows() * x.slot.Every)
				counted[i] += x.slot.Seconds()
				minutes[i].seconds = max(minutes[i].seconds, counted[i])
			}
		}
	}
	best, at := math.Inf(-1), 0
	for i := 1; i < len(minutes); i++ {
		var was, is minute
		for j, x := range minutes {
			to := &was
			if j >= i {
				to = &is
			}
			to.rows, to.seconds = to.rows+x.rows, to.seconds+x.seconds
		}
		if was.seconds == 0 || is.rows < leastRows || is.rows/is.seconds <= muchMore*was.rows/was.seconds {
			continue
		}
		likely := is.rows * math.Log(is.rows/is.seconds)
		if was.rows > 0 {
			likely += was.rows * math.Log(was.rows/was.seconds)
		}
		if likely > best {
			best, at = likely, i
		}
	}
	if at == 0 {
		return time.Time{}
	}
	return before.From.Add(time.Duration(at) * windowAlignment)
}

// add keeps a sample that lies in one of the windows, and reports whether the second window may be
// complete.
func (k *measurement) add(x sample) bool {
	before, after := k.windows()
	ns := x.slot.NS
	switch {
	case before.contains(x.slot):
		k.before[ns], k.dirty = append(k.before[ns], x), true
	case after.contains(x.slot):
		k.after[ns], k.dirty = append(k.after[ns], x), true
	}
	return !after.To.IsZero() && !x.slot.To.Before(after.To)
}

// update starts measuring a run or updates its state.
func (r *Recorder) update(ctx context.Context, cluster string, run engine.Run, now time.Time) error {
	r.mu.Lock()
	k := r.active[run.ID]
	r.mu.Unlock()
	if k == nil {
		_, after := windows(run.Started, run.Ended)
		if scopeOf(run).empty() || !run.State.Open() && now.After(after.To.Add(settleWithin)) {
			return nil
		}
		row, err := r.opts.Store.RunOutcome(ctx, cluster, run.ID)
		switch {
		case err == nil && !row.Open:
			return nil // already measured
		case err != nil && fault.Of(err) != fault.NotFound:
			return fmt.Errorf("read what was measured of run %s: %w", run.ID, err)
		}
		r.mu.Lock()
		r.startMeasuring(run, nil)
		r.mu.Unlock()
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	had := k.run.Ended
	k.run, k.scope = run, scopeOf(run)
	if !had.Equal(run.Ended) {
		k.dirty = true
	}
	r.addRecent(k)
	return nil
}

// startMeasuring starts measuring a run with what is still known of the time before it.
func (r *Recorder) startMeasuring(run engine.Run, prior *Record) {
	k := &measurement{run: run, scope: scopeOf(run), earlier: prior, dirty: true,
		before: map[topology.Namespace][]sample{}, after: map[topology.Namespace][]sample{}}
	if prior != nil {
		k.otherRuns, k.otherMoves, k.movedAgain, k.until = prior.OtherRuns, prior.OtherMoves, prior.MovedAgain, prior.Until
		k.sameRanges = prior.SameRanges || len(prior.OtherRuns) > 0 && !prior.separable()
	}
	r.active[run.ID] = k
	r.addRecent(k)
}

// addRecent adds recent samples that lie in the run's windows and are not in it yet: for a run that
// was just noticed, a collection of a new step, or the time between a run's end and when that was
// noticed.
func (r *Recorder) addRecent(k *measurement) {
	before, after := k.windows()
	for ns := range k.scope.spans {
		for _, side := range []struct {
			w    Span
			have map[topology.Namespace][]sample
		}{{before, k.before}, {after, k.after}} {
			for _, x := range r.recent[ns] {
				if side.w.contains(x.slot) && !slices.ContainsFunc(side.have[ns], func(y sample) bool { return y.slot.From.Equal(x.slot.From) }) {
					side.have[ns], k.dirty = append(side.have[ns], x), true
				}
			}
		}
	}
}

// closeComplete ends measurements whose second window is complete or overdue, and those of runs
// without an effect.
func (r *Recorder) closeComplete(now time.Time) {
	t := r.opts.Tables.Table()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.active {
		if k.run.State.Open() {
			continue
		}
		_, after := k.windows()
		if k.scope.empty() || !now.Before(after.To.Add(settleWithin)) || r.isComplete(t, k, after.To) {
			k.closed, k.dirty = true, true
		}
	}
}

// isComplete reports whether everything was counted up to a time. A run with no counted collections
// has nothing to wait for.
func (r *Recorder) isComplete(t *topology.Table, k *measurement, to time.Time) bool {
	for _, ns := range k.scope.namespaces() {
		c, known := heat.CoverageOf(t, r.opts.Profile, ns)
		begun := len(k.before[ns]) > 0 || k.countedEarlier(ns).Before != nil
		if !begun && (!known || c.Not != "") {
			continue
		}
		all := r.recent[ns]
		if len(all) == 0 || all[len(all)-1].slot.To.Before(to) {
			return false
		}
	}
	return true
}

// countedEarlier returns what an earlier process counted of a collection.
func (k *measurement) countedEarlier(ns topology.Namespace) CollectionRecord {
	if k.earlier == nil {
		return CollectionRecord{}
	}
	for _, c := range k.earlier.Collections {
		if c.NS == ns {
			return c
		}
	}
	return CollectionRecord{}
}
