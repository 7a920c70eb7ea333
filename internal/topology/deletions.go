package topology

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"shardboard/internal/clock"
	"shardboard/internal/fault"
)

// A shard deletes the documents of a range that it gave away when nobody can be reading them any more: it waits for all
// cursors of the collection that were opened before the range left. Of these there can only be fewer with time, so one
// look that finds none is enough for all ranges that had left by then.

const (
	// cursorsEvery is the shortest time between two looks while ranges leave, or cursors hold one up.
	cursorsEvery = 30 * time.Second
	// cursorsSeldom is the longest one, for a deletion that is held up for hours: a tenth of the time so far.
	cursorsSeldom = 5 * time.Minute
	// lateDeletion is after which time a range is thought to be deleted if nothing tells: a cursor that nobody uses ends
	// after ten minutes.
	lateDeletion = OrphanDelay + 10*time.Minute
	// maxHeldCursors bounds the cursors of one deletion that are kept. All are counted.
	maxHeldCursors = 100
)

// Deletions is what is known of open cursors that hold up the deletion of documents which moves left behind.
type Deletions struct {
	// Held are the deletions that wait for cursors, by collection and shard.
	Held []HeldDeletion
	// Reason is why it is not known whether some are held up, a figure's code; "" when it was read, or nothing is known to
	// wait. Privilege is what to grant for it.
	Reason, Privilege string
	At                time.Time // when the shards were last asked; zero: not since something is to be deleted
}

// HeldDeletion is what the deletion of documents of a collection on one shard waits for.
type HeldDeletion struct {
	NS    Namespace
	Shard string
	Since time.Time // when the range left, or was first seen to have left, of which the newest cursor here is older
	// Unsure: which ranges left is not known, only that there are orphaned documents.
	Unsure  bool
	Cursors []OpenCursor // oldest first; the first maxHeldCursors
	Count   int          // of all
}

// Oldest is when the oldest cursor was opened.
func (h HeldDeletion) Oldest() time.Time { return h.Cursors[0].Opened }

// HeldOn are the deletions on a shard that wait for cursors; of one collection, unless ns is empty.
func (t *Table) HeldOn(shard string, ns Namespace) (out []HeldDeletion) {
	for _, h := range t.Deletions.Held {
		if h.Shard == shard && (ns == "" || h.NS == ns) {
			out = append(out, h)
		}
	}
	return out
}

// CursorSource is a Source that tells of open cursors.
type CursorSource interface {
	// OpenCursors reads which cursors stand open on the shards, and when they were asked: an answer may be some seconds
	// old. Errors are as Source's.
	OpenCursors(ctx context.Context) ([]OpenCursor, time.Time, error)
}

// place is a collection on a shard.
type place struct {
	ns    Namespace
	shard string
}

// leaving is what a shard still has to delete of a collection.
type leaving struct {
	last   time.Time // when the last range left
	unsure bool
}

// cursorWatch looks for cursors that hold up deletions; one goroutine's.
type cursorWatch struct {
	w       *Watcher
	src     CursorSource
	cleared map[place]time.Time // what had left by then is not held up
	counted map[place]time.Time // when orphaned documents were first counted whose move is not known
	asked   time.Time
	first   time.Time // when the deletions that wait now were first found to be held up; zero: none is
}

// watchCursors looks at open cursors while something is to be deleted. It sends nothing while nothing is.
func (w *Watcher) watchCursors(ctx context.Context) error {
	src, ok := w.src.(CursorSource)
	if !ok {
		return nil
	}
	select {
	case <-w.loaded:
	case <-ctx.Done():
		return ctx.Err()
	}
	x := cursorWatch{w: w, src: src, cleared: map[place]time.Time{}, counted: map[place]time.Time{}}
	for {
		x.turn(ctx)
		if err := clock.Sleep(ctx, w.o.Slow); err != nil {
			return err
		}
	}
}

// turn looks if something may be held up and a look is due.
func (x *cursorWatch) turn(ctx context.Context) {
	now := time.Now()
	t := x.w.Table()
	waiting := x.waiting(t, now)
	if len(waiting) == 0 {
		x.first = time.Time{}
		if !x.w.Table().Deletions.equal(Deletions{}) {
			x.publish(Deletions{})
		}
		return
	}
	pause := cursorsEvery
	if !x.first.IsZero() && !x.changed(t) {
		pause = min(max(now.Sub(x.first)/10, cursorsEvery), cursorsSeldom)
	}
	if !x.asked.IsZero() && now.Sub(x.asked) < pause-x.w.o.Slow/2 {
		return
	}
	x.asked = now
	read, cancel := context.WithTimeout(ctx, min(x.w.o.Timeout, shardsWait))
	defer cancel()
	cursors, at, err := x.src.OpenCursors(read)
	if ctx.Err() != nil {
		return
	}
	if err != nil {
		next := Deletions{Reason: reasonOf(err), At: t.Deletions.At}
		var denied *DeniedError
		if errors.As(err, &denied) {
			next.Privilege = denied.Privilege
		} else if fault.Of(err) != fault.Forbidden {
			next.Held = t.Deletions.Held // as last read; what is still waiting is not known to be free
		}
		if !stillWaits(waiting, now) {
			next = Deletions{} // nothing tells that they are not deleted
		}
		x.publish(next)
		return
	}
	x.take(waiting, cursors, at, now)
}

// waiting is what may be held up: ranges that left since the last look that found nothing.
func (x *cursorWatch) waiting(t *Table, now time.Time) map[place]leaving {
	out := map[place]leaving{}
	for _, e := range t.Events {
		g, ok := GivenAway(e)
		at := place{g.NS, g.Shard}
		if !ok || g.Empty || t.Collection(g.NS) == nil {
			continue
		}
		if count, _ := t.orphanCount(g.NS, g.Shard); count.Known && count.Value == 0 && count.At.After(e.Time) {
			continue // they are deleted
		}
		if e.Time.After(out[at].last) {
			out[at] = leaving{last: e.Time}
		}
	}
	for ns, sizes := range t.Sizes {
		for shard, size := range sizes.Shards {
			at := place{ns, shard}
			_, known := out[at]
			receives := slices.ContainsFunc(t.MovingOf(ns), func(m InFlight) bool { return m.To == shard })
			if !size.Orphans.Known || size.Orphans.Value == 0 || known || receives {
				continue
			}
			if x.counted[at].IsZero() {
				x.counted[at] = size.Orphans.At
			}
			out[at] = leaving{last: x.counted[at], unsure: true}
		}
	}
	maps.DeleteFunc(x.counted, func(at place, _ time.Time) bool { return !out[at].unsure }) // also of what is gone
	for at, l := range out {
		if !l.last.After(x.cleared[at]) {
			delete(out, at)
		}
	}
	for at, then := range x.cleared { // entries that the log forgets need not be remembered either, nor what is gone
		if _, has := t.Sizes[at.ns]; !has && t.Collection(at.ns) == nil || t.Shard(at.shard) == nil {
			delete(x.cleared, at)
		}
		if now.Sub(then) > 24*time.Hour && !slices.ContainsFunc(t.Events, func(e Event) bool { return !e.Time.After(then) }) {
			delete(x.cleared, at)
		}
	}
	return out
}

// stillWaits tells whether something may still be to be deleted, as far as can be told without a look.
func stillWaits(waiting map[place]leaving, now time.Time) bool {
	for _, l := range waiting {
		if l.unsure || now.Sub(l.last) < lateDeletion {
			return true
		}
	}
	return false
}

// changed tells whether a range has left since the last look.
func (x *cursorWatch) changed(t *Table) bool {
	return slices.ContainsFunc(t.Events, func(e Event) bool {
		g, ok := GivenAway(e)
		return ok && !g.Empty && e.Time.After(x.asked)
	})
}

// take compares what is to be deleted with the cursors that were open.
func (x *cursorWatch) take(waiting map[place]leaving, cursors []OpenCursor, at, now time.Time) {
	next := Deletions{At: at}
	for where, l := range waiting {
		h := HeldDeletion{NS: where.ns, Shard: where.shard, Since: l.last, Unsure: l.unsure}
		for _, k := range cursors {
			if k.NS == where.ns && k.Shard == where.shard && !k.Opened.After(l.last) {
				h.Cursors = append(h.Cursors, k)
			}
		}
		if h.Count = len(h.Cursors); h.Count == 0 {
			if !at.Before(l.last) { // else the answer is older than the range's departure
				x.cleared[where] = l.last
			}
			continue
		}
		slices.SortFunc(h.Cursors, func(a, b OpenCursor) int { return cmp.Or(a.Opened.Compare(b.Opened), cmp.Compare(a.ID, b.ID)) })
		h.Cursors = h.Cursors[:min(h.Count, maxHeldCursors)]
		next.Held = append(next.Held, h)
	}
	slices.SortFunc(next.Held, func(a, b HeldDeletion) int { return cmp.Or(cmp.Compare(a.NS, b.NS), cmp.Compare(a.Shard, b.Shard)) })
	switch {
	case len(next.Held) == 0:
		x.first = time.Time{}
	case x.first.IsZero():
		x.first = now
	}
	x.publish(next)
}

// publish swaps it in. Nobody is told when it looks as before.
func (x *cursorWatch) publish(next Deletions) {
	x.w.publish(func(t *Table) bool {
		loud := !t.Deletions.equal(next)
		t.Deletions = next
		return loud
	})
}

// equal tells whether both look the same to people: when a cursor was last used does not show.
func (d Deletions) equal(o Deletions) bool {
	return d.Reason == o.Reason && d.Privilege == o.Privilege && slices.EqualFunc(d.Held, o.Held, func(a, b HeldDeletion) bool {
		same := func(a, b OpenCursor) bool { a.Used, b.Used = time.Time{}, time.Time{}; return a == b }
		return a.NS == b.NS && a.Shard == b.Shard && a.Since.Equal(b.Since) && a.Unsure == b.Unsure && a.Count == b.Count &&
			slices.EqualFunc(a.Cursors, b.Cursors, same)
	})
}
