package topology

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"time"
)

// router is what the routing poll remembers between turns; guarded by the
// routing gate.
type router struct {
	identified bool                    // the server was asked who it is since the last failure
	met        bool                    // the cluster's id is its own answer, not what was known before
	after      Namespace               // rotation: where the next turn begins
	reload     map[Namespace]bool      // maps known to be wrong
	empty      map[Namespace]time.Time // since when a collection has had no chunks
}

// readAnew has all chunks of a collection read at the next turn. The caller holds the routing gate.
func (r *router) readAnew(ns Namespace) {
	if r.reload == nil {
		r.reload = make(map[Namespace]bool)
	}
	r.reload[ns] = true
}

// pollRouting is one turn: heads, then chunks of what changed, then one swap.
func (w *Watcher) pollRouting(ctx context.Context) error {
	if err := w.routing.enter(ctx); err != nil {
		return err
	}
	defer w.routing.leave()
	err := w.route(ctx, nil)
	w.noteConnection()
	if ctx.Err() != nil {
		return ended(ctx) // we were told to stop; that says nothing about the cluster
	}
	if err != nil {
		w.router.identified = false
		was := w.Table().Health[PartRouting]
		w.publish(func(t *Table) bool { return t.note(PartRouting, err) })
		w.logHealth(PartRouting, was, w.Table().Health[PartRouting])
	}
	return err
}

// pollNamed reads the collections that changelog entries named, and once more soon those in which nothing is new.
func (w *Watcher) pollNamed(ctx context.Context, list map[Namespace]namedRead) error {
	if err := w.routing.enter(ctx); err != nil {
		return err
	}
	defer w.routing.leave()
	names := slices.Sorted(maps.Keys(list))
	was := w.Table()
	err := w.route(ctx, names)
	w.tellOwed()
	if err != nil {
		return err
	}
	is := w.Table()
	w.follower.again(slices.DeleteFunc(names, func(ns Namespace) bool { return list[ns].again || is.named(ns) != was.named(ns) }), time.Now())
	return nil
}

// headsOf reads the heads of these collections; those that are not there are missing.
func (w *Watcher) headsOf(ctx context.Context, only []Namespace) ([]Head, error) {
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	return w.src.Heads(ctx, Window{Only: only})
}

// noteConnection takes over which servers answer.
func (w *Watcher) noteConnection() {
	src, ok := w.src.(connected)
	if !ok {
		return
	}
	if is := src.Connection(); !is.same(w.Table().Connection) {
		w.publish(func(t *Table) bool { t.Connection = is; return true })
	}
}

func (w *Watcher) route(ctx context.Context, only []Namespace) error {
	info, err := w.identify(ctx)
	if err != nil {
		return err
	}
	base := w.Table()
	var heads []Head
	var covers func(Namespace) bool
	if len(only) > 0 {
		heads, err = w.headsOf(ctx, only)
		covers = func(ns Namespace) bool { return slices.Contains(only, ns) }
	} else {
		heads, covers, err = w.heads(ctx, base)
	}
	if !usable(err) {
		return err
	}
	note := err
	if info == nil && begunAnew(base, heads) {
		w.router.identified = false
		if info, err = w.identify(ctx); err != nil {
			return err
		}
	}
	turn := newTurn(base, w.comparable(base, info), heads, covers, w.router.reload)
	w.noteEmpty(turn, covers)
	readErr := w.read(ctx, turn)
	if readErr != nil {
		note = readErr
	}
	damaged := turn.findDamaged(readErr != nil)
	was := base.Health[PartRouting]
	w.publish(func(t *Table) bool { return w.settle(t, turn, damaged, info, note) })
	w.logHealth(PartRouting, was, w.Table().Health[PartRouting])
	if !base.unconfirmed() && w.Table().unconfirmed() {
		w.wake() // perhaps a shard or database is new
	}
	for _, l := range turn.loads {
		if l.next != nil || l.gone || l.stable {
			delete(w.router.reload, l.head.NS)
		}
	}
	w.unsettled.Store(len(w.router.empty) > 0 || len(w.router.reload) > 0)
	if !usable(note) {
		return note
	}
	return nil
}

// emptyAfter is how long a collection has no chunks before that is damage: it is created and dropped in two steps.
const emptyAfter = 3 * time.Second

// noteEmpty keeps since when collections have had no chunks, and adds those that have had none for too long to the
// damaged.
func (w *Watcher) noteEmpty(t *turn, covers func(Namespace) bool) {
	was := w.router.empty
	w.router.empty = map[Namespace]time.Time{}
	now := time.Now()
	for ns, since := range was {
		if !covers(ns) {
			w.router.empty[ns] = since
		}
	}
	for _, h := range t.empty {
		since, ok := was[h.NS]
		if !ok {
			since = now
		}
		w.router.empty[h.NS] = since
		if now.Sub(since) >= emptyAfter {
			d := (&load{head: h}).damage(now)
			d.Since = since
			t.damaged = append(t.damaged, d)
		}
	}
}

// begunAnew tells whether a collection is another one than its name had before.
// So are all when another cluster has come to the address between two polls, in
// time for none of them to fail.
func begunAnew(base *Table, heads []Head) bool {
	return slices.ContainsFunc(heads, func(h Head) bool {
		c := base.Collection(h.NS)
		return c != nil && c.Incarnation != h.Incarnation
	})
}

// settle writes the outcome of a turn into the next table.
func (w *Watcher) settle(t *Table, turn *turn, damaged []*Damage, info *ServerInfo, note error) bool {
	loud := t.note(PartRouting, note)
	if f := w.follower.state(); f.Live != t.Following.Live || (f.Err == nil) != (t.Following.Err == nil) {
		t.Following, loud = f, true
	}
	if info != nil && *info != t.ServerInfo {
		if !w.router.met {
			if info.ClusterID != "" && t.ClusterID != info.ClusterID {
				t.Formerly = t.ClusterID
			}
			t.ClusterID, w.router.met = "", true // that of the address is not known to be this one's
		}
		t.ServerInfo, t.ClusterID, loud = *info, cmp.Or(info.ClusterID, t.ClusterID), true
	}
	if !slices.EqualFunc(damaged, t.Damaged, (*Damage).same) {
		loud = true
	}
	t.Damaged = damaged
	cols, changes, changed := turn.outcome()
	if !changed {
		return t.unconfirmed() && t.compare(time.Now()) || loud
	}
	t.Collections, t.Changes = cols, changes
	read := turn.flagsRead
	for _, l := range turn.loads {
		if l.next != nil && !l.allRead.IsZero() {
			read[l.head.NS] = l.allRead
		}
	}
	if len(read) > 0 {
		t.setFlagsRead(read)
	}
	t.Zones = completeZones(t.Zones, t)
	t.compare(time.Now())
	t.forgetSizes(turn.base, changes)
	return true
}

// identify asks the server who it is, at first, after each failure and when a
// collection began anew, since another cluster may answer at the same address.
// Nil: nothing new.
func (w *Watcher) identify(ctx context.Context) (*ServerInfo, error) {
	if w.router.identified {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	info, err := w.src.Server(ctx)
	if err != nil {
		return nil, err
	}
	if known := w.Table().ClusterID; w.router.met && known != "" && info.ClusterID != "" && known != info.ClusterID {
		return nil, OtherCluster(known, info.ClusterID)
	}
	w.router.identified = true
	return &info, nil
}

// heads asks for all collections, or in rotation for a part of them and for
// those that the changelog names. covers tells of which names the answer is
// complete: absent there means dropped.
func (w *Watcher) heads(ctx context.Context, base *Table) (heads []Head, covers func(Namespace) bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, w.o.Timeout)
	defer cancel()
	if len(base.Collections) <= w.o.RotateAbove {
		heads, err = w.src.Heads(ctx, Window{})
		return heads, func(Namespace) bool { return true }, err
	}
	after := w.router.after
	heads, err = w.src.Heads(ctx, Window{After: after, Limit: w.o.RotateAbove})
	if !usable(err) {
		return nil, nil, err
	}
	full := len(heads) >= w.o.RotateAbove
	var upto Namespace
	if full {
		upto = heads[len(heads)-1].NS
	}
	hints := w.hints(ctx, base)
	hints = slices.DeleteFunc(hints, func(ns Namespace) bool { return ns > after && (!full || ns <= upto) })
	if len(hints) > 0 {
		more, err := w.src.Heads(ctx, Window{Only: hints})
		if !usable(err) {
			return nil, nil, err
		}
		heads = append(heads, more...)
	}
	w.router.after = upto // empty: begin again
	return heads, func(ns Namespace) bool {
		return (ns > after && (!full || ns <= upto)) || slices.Contains(hints, ns)
	}, err
}

// hints is the collections that new changelog entries name. The changelog is
// best effort and may be forbidden; the rotation finds what it does not tell.
func (w *Watcher) hints(ctx context.Context, base *Table) []Namespace {
	var out []Namespace
	if len(base.Events) > 0 && !w.follower.isLive() {
		fresh, _ := w.pollEvents(ctx)
		for _, e := range fresh {
			out = append(out, Namespace(e.NS))
		}
	}
	out = slices.AppendSeq(out, maps.Keys(w.router.reload))
	slices.Sort(out)
	return slices.Compact(out)
}
