package topology

import (
	"context"
	"maps"
	"slices"
)

// listUnsharded lists the collections of every database and publishes those
// that no sharded one shadows. A database that may not be listed, or cannot be
// now, keeps its old list; only when none was ever listed the result stays
// unknown.
func (w *Watcher) listUnsharded(ctx context.Context) {
	t := w.Table()
	lists := make(map[string][]Namespace, len(t.Databases))
	var failure error
	for _, db := range t.Databases {
		read, cancel := context.WithTimeout(ctx, w.o.Timeout)
		list, err := w.src.Collections(read, db.Name)
		cancel()
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			failure = err
			continue
		}
		lists[db.Name] = list
	}
	was := t.Health[PartCollections]
	w.publish(func(t *Table) bool {
		loud := t.note(PartCollections, failure)
		if len(lists) == 0 && failure != nil {
			return loud
		}
		var next []Namespace
		for _, db := range t.Databases {
			if list, ok := lists[db.Name]; ok {
				next = append(next, list...)
				continue
			}
			for _, ns := range t.Unsharded {
				if ns.Database() == db.Name {
					next = append(next, ns)
				}
			}
		}
		next = slices.DeleteFunc(next, func(ns Namespace) bool { return t.Collection(ns) != nil })
		slices.Sort(next)
		next = slices.Compact(next)
		if next == nil {
			next = []Namespace{}
		}
		if t.Unsharded != nil && slices.Equal(next, t.Unsharded) {
			return loud
		}
		t.Unsharded = next
		return true
	})
	w.logHealth(PartCollections, was, w.Table().Health[PartCollections])
}

// forgetSizes drops the sizes of collections that are gone, whose figures are another life's, or that have got a place
// of their own and were measured on the primary shard, and takes new ones off the unsharded list.
func (t *Table) forgetSizes(base *Table, changes []Change) {
	t.Unsharded = slices.DeleteFunc(slices.Clone(t.Unsharded), func(ns Namespace) bool { return t.Collection(ns) != nil })
	sizes := maps.Clone(t.Sizes)
	for _, c := range changes {
		was, is := base.Collection(c.NS), t.Collection(c.NS)
		if is == nil || was == nil && is.Unsplittable || was != nil && was.Incarnation.UUID != is.Incarnation.UUID {
			delete(sizes, c.NS)
		}
	}
	t.Sizes = sizes
}

// forgetMoved drops the sizes of unsharded collections of databases that have another primary shard than before: they
// are those on the former one.
func (t *Table) forgetMoved(former func(db string) string) {
	t.Sizes = maps.Clone(t.Sizes)
	for _, ns := range t.Unsharded {
		if db := ns.Database(); former(db) != t.Primary(db) {
			delete(t.Sizes, ns)
		}
	}
}
