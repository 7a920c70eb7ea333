package engine

import (
	"context"
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
)

// foreseeOrphans lets a move wait that would certainly fail: its recipient gave the
// range away and was seen to have orphaned documents since. When orphaned documents
// are not counted, the first try finds out, which costs ten seconds; a shard may
// delete them at once. A move that can go to another shard is not tried then.
func (x *execution) foreseeOrphans(i int) bool {
	s := x.current().Steps[i]
	orphans := x.e.opts.Tables.Table().SizeOn(s.NS, s.Shard).Orphans
	counted := orphans.Known && orphans.Value > 0
	if s.Backoff != nil || !counted && len(s.Others) == 0 {
		return true
	}
	c, pending := x.pendingCleanup(s)
	if !pending {
		return true
	}
	if !counted || !orphans.At.After(c.Since) {
		if _, free := x.freeRecipient(s, x.migrationsNow()); !free {
			return true
		}
	}
	at := x.e.now()
	w := Backoff{Obstacle: operation.ObstacleOrphans, Since: at, First: at, Pause: orphanRetry}
	w = backoffForCleanup(w, c)
	return x.persist(func(r *Run) { r.Steps[i].Backoff = &w })
}

// pendingCleanup returns the newest range that the recipient of a move gave away and
// may not have deleted yet.
func (x *execution) pendingCleanup(s Step) (found operation.Cleanup, ok bool) {
	if !s.Migrates() {
		return found, false
	}
	ctx, cancel := context.WithTimeout(x.ctx, readTimeout)
	defer cancel()
	a, err := x.e.opts.Reader.Activity(ctx, nil)
	if err != nil {
		return found, false
	}
	t := x.e.opts.Tables.Table()
	c := t.Collection(s.NS)
	if c == nil {
		return found, false
	}
	orphans := t.SizeOn(s.NS, s.Shard).Orphans
	done := x.e.cleanups.list(x.e.now())
	for _, p := range a.Cleanups {
		if p.NS != s.NS || p.Shard != s.Shard || p.Until.IsZero() || !p.Overlaps(c.Key, s.Min, s.Max) || slices.ContainsFunc(done, p.Same) {
			continue
		}
		if orphans.Known && orphans.Value == 0 && orphans.At.After(p.Since) {
			continue
		}
		if !ok || p.Until.After(found.Until) {
			found, ok = p, true
		}
	}
	return found, ok
}

// orphansGone reports whether the recipient has been seen without orphaned documents since it refused the step, so that
// the step is worth a try before its time.
func (x *execution) orphansGone(s Step) bool {
	w := s.Backoff
	if w.Obstacle != operation.ObstacleOrphans || !w.Tried.IsZero() && x.e.now().Sub(w.Tried) < orphanRetry {
		return false
	}
	orphans := x.e.opts.Tables.Table().SizeOn(s.NS, s.Shard).Orphans
	return orphans.Known && orphans.Value == 0 && orphans.At.After(w.Since) && orphans.At.After(w.Tried)
}

// backoffForCleanup waits for a range that the recipient still has to delete.
func backoffForCleanup(w Backoff, c operation.Cleanup) Backoff {
	w.Until = c.Until.Add(orphanGrace)
	if due := c.Until.Add(orphanSlack); due.After(w.Next) {
		w.Next = due
	}
	w.What = message.New("obstacle.orphansUntil",
		"This range was moved away from {shard} at {since}, and {shard} still has to delete its documents; "+
			"it cannot take the range back before about {until}.",
		message.Text("obstacle", string(operation.ObstacleOrphans)), message.Shard("shard", c.Shard),
		message.Time("since", c.Since), message.Time("until", c.Until))
	return w
}
