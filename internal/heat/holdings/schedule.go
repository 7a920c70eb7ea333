package holdings

import (
	"cmp"
	"context"
	"slices"
	"time"

	"shardboard/internal/heat/survey"
	"shardboard/internal/natural"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

const (
	// maxWindow is how many of the newest rows are kept of a collection: they estimate a share to
	// within ± 2 % of the collection.
	maxWindow = 4800
	// maxRows is how many rows are kept of all collections together: about 30 MB, or twice that if all are counted.
	maxRows = 300_000
	// countedUpTo is the smallest multiple of the window for which a collection is sampled. A smaller one
	// is read row by row, which costs little more and is exact.
	countedUpTo = 2
	// maxCollections is how many collections are measured: the largest ones.
	maxCollections = 1000
	// renewAfter is the age after which a collection is read again when nothing else is to be read.
	renewAfter      = time.Minute
	renewCountAfter = 5 * time.Minute
)

// targetsOf are the collections that are measured, by name.
func targetsOf(t *topology.Table, p *profile.Profile) []survey.Target {
	var targets []survey.Target
	for _, scope := range []profile.Scope{profile.ScopeProject, profile.ScopeDocument} {
		for _, one := range survey.Targets(t, p, survey.Request{}, scope) {
			one.Document, one.Dead = "", profile.DeadMark{} // not needed, so not read
			targets = append(targets, one)
		}
	}
	if len(targets) > maxCollections {
		bytes := map[topology.Namespace]int64{}
		for _, one := range targets {
			bytes[one.NS] = survey.TotalOf(t, one.NS).Bytes.Value
		}
		slices.SortStableFunc(targets, func(a, b survey.Target) int { return cmp.Compare(bytes[b.NS], bytes[a.NS]) })
		targets = targets[:maxCollections]
	}
	slices.SortFunc(targets, func(a, b survey.Target) int { return natural.Compare(a.NS, b.NS) })
	return targets
}

// follow updates the list of measured collections.
func (e *Engine) follow(ctx context.Context, t *topology.Table) {
	targets := targetsOf(t, e.prof)
	e.mu.Lock()
	had := map[topology.Namespace]*followed{}
	for _, f := range e.followed {
		had[f.target.NS] = f
	}
	next := make([]*followed, 0, len(targets))
	changed := len(targets) != len(e.followed)
	for _, one := range targets {
		f := had[one.NS]
		if f == nil {
			f, changed = &followed{}, true
		}
		f.target = one
		delete(had, one.NS)
		next = append(next, f)
	}
	if changed {
		e.followed = next
		e.seq++
	}
	cluster, loaded := e.cluster, e.loaded
	e.mu.Unlock()
	if loaded && e.leads() {
		for ns := range had {
			e.drop(ctx, cluster, ns)
		}
	}
}

// window is how many rows are kept of each collection.
func (e *Engine) window() int {
	return max(laterBatch, min(maxWindow, maxRows/max(1, len(e.followed))))
}

// next is the collection to read: one of which no rows were read, or else the one that was read
// longest ago. nil: none is due.
func (e *Engine) next(t *topology.Table) (best *followed) {
	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.o.Now()
	for _, f := range e.followed {
		if !e.due(t, f, now) {
			continue
		}
		if best == nil || f.tried.Before(best.tried) {
			best = f
		}
	}
	return best
}

// due reports whether a collection is to be read.
func (e *Engine) due(t *topology.Table, f *followed, now time.Time) bool {
	if now.Before(f.retry) || unknownReason(t, f) != "" {
		return false
	}
	s := f.sample
	switch {
	case s == nil, s.Life != lifeOf(t, f.target.NS), f.count != nil:
		return true
	case s.Counted:
		return now.Sub(f.tried) >= renewCountAfter
	case s.read() < e.window():
		return true
	}
	return now.Sub(f.tried) >= renewAfter
}

// unknownReason is why the size of a collection is not known; without it rows stand for nothing.
func unknownReason(t *topology.Table, f *followed) string {
	if rows := survey.TotalOf(t, f.target.NS).Rows; !rows.Known {
		return cmp.Or(rows.Reason, "notLoaded")
	}
	return ""
}
