package outcome

import (
	"slices"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/heat"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// findOtherChanges finds what else changed the collections of each run in or between its windows.
func (r *Recorder) findOtherChanges(runs []engine.Run, now time.Time) {
	t := r.opts.Tables.Table()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, k := range r.active {
		k.cutAtUndo(runs)
		before, after := k.windows()
		end := after.To
		if end.IsZero() {
			end = now
		}
		for _, o := range runs {
			if o.ID == k.run.ID || o.UndoOf == k.run.ID || slices.Contains(k.otherRuns, o.ID) || !hasSent(o) || !k.scope.overlaps(scopeOf(o)) {
				continue
			}
			if o.Started.Before(end) && (o.Ended.IsZero() || o.Ended.After(before.From)) {
				k.otherRuns, k.dirty = append(k.otherRuns, o.ID), true
				k.sameRanges = k.sameRanges || k.scope.sameRanges(t, scopeOf(o))
				slices.Sort(k.otherRuns)
			}
		}
		// The changelog is capped, so a smaller count than before is ignored.
		n, again := otherMigrations(t, k, Span{before.From, end})
		if n > k.otherMoves || again && !k.movedAgain {
			k.otherMoves, k.movedAgain, k.dirty = max(n, k.otherMoves), again || k.movedAgain, true
		}
	}
}

// hasSent reports whether a run sent a command.
func hasSent(r engine.Run) bool {
	return slices.ContainsFunc(r.Steps, func(s engine.Step) bool { return s.Sends() && !s.Sent.IsZero() })
}

// otherMigrations counts migrations of a run's collections in a time span that were neither its own
// commands nor what it waited for; moves of other runs are included. again reports whether one of
// them moved the run's chunks after it ended.
func otherMigrations(t *topology.Table, k *measurement, w Span) (n int, again bool) {
	for _, e := range t.Events {
		if e.What != "moveChunk.commit" || e.Time.Before(w.From) || !e.Time.Before(w.To) {
			continue
		}
		if _, concerned := k.scope.spans[topology.Namespace(e.NS)]; !concerned {
			continue
		}
		during := !e.Time.Before(k.run.Started) && (k.run.Ended.IsZero() || e.Time.Before(k.run.Ended.Add(time.Second)))
		if during && k.scope.awaits || k.isOwn(e) {
			continue
		}
		n++
		again = again || !k.run.Ended.IsZero() && e.Time.After(k.run.Ended) && k.overlapsEvent(t, e)
	}
	return n, again
}

// overlapsEvent reports whether the range of a changelog entry overlaps what the run placed, or what it split if it
// placed nothing: what a run of moves cuts off beside them is not its matter.
func (k *measurement) overlapsEvent(t *topology.Table, e topology.Event) bool {
	c := t.Collection(topology.Namespace(e.NS))
	lo, _ := e.Details.Lookup("min").DocumentOK()
	hi, _ := e.Details.Lookup("max").DocumentOK()
	if c == nil {
		return false
	}
	spans := k.scope.placed
	if len(spans) == 0 {
		spans = k.scope.spans
	}
	moved := mergedRanges(c, []keySpan{{lo, hi}})
	return len(moved) > 0 && slices.ContainsFunc(mergedRanges(c, spans[c.NS]), func(r shardkey.Range) bool {
		return r.Min.Compare(moved[0].Max) < 0 && moved[0].Min.Compare(r.Max) < 0
	})
}

// isOwn reports whether a changelog entry belongs to one of the run's commands.
func (k *measurement) isOwn(e topology.Event) bool {
	lo, _ := e.Details.Lookup("min").DocumentOK()
	to, _ := e.Details.Lookup("to").StringValueOK()
	return slices.ContainsFunc(k.run.Steps, func(s engine.Step) bool {
		return s.Migrates() && !s.Sent.IsZero() && string(s.NS) == e.NS && s.Shard == to && string(s.Min) == string(lo) &&
			e.Time.After(s.Sent.Add(-windowAlignment))
	})
}

// cutAtUndo ends the second window where an undo of the run began: what the run did is compared as long as it lasted.
func (k *measurement) cutAtUndo(runs []engine.Run) {
	for _, o := range runs {
		if o.UndoOf != k.run.ID || !hasSent(o) || !k.until.IsZero() || k.run.Ended.IsZero() {
			continue
		}
		_, after := windows(k.run.Started, k.run.Ended)
		if end := o.Started.Truncate(heat.Tick).UTC(); end.Before(after.To) {
			k.until, k.dirty = end, true
		}
	}
}
