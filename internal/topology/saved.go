package topology

import (
	"cmp"
	"maps"
	"sync/atomic"
	"time"
)

// saved is the table that an earlier process saved, until this one has read its own. Only pages see it: what plans,
// records, measures or alerts takes the watcher's Table, in which nothing of it is before it was compared.
type saved struct {
	table atomic.Pointer[Table] // nil: none, or no more
	shown atomic.Pointer[shownTable]
	at    time.Time // when it was saved; stays
}

// shownTable is a table with the saved parts in the place of those that were not read yet.
type shownTable struct{ of, table *Table }

// savedParts are those of a saved table.
var savedParts = [...]Part{PartRouting, PartShards, PartDatabases, PartZones, PartSettings, PartCollections}

func (s *saved) take(o *Options) {
	if t := o.Saved; t != nil && t.ClusterID != "" && t.ClusterID == o.Known {
		s.at = t.Saved
		s.table.Store(t)
	}
	o.Saved = nil
}

func (s *saved) drop() {
	s.table.Store(nil)
	s.shown.Store(nil)
}

// Shown is Table for pages: with what an earlier process saved in the place of what was not read yet. Saved then tells
// of when that is, as the Health of its parts does.
func (w *Watcher) Shown() *Table {
	now, from := w.Table(), w.saved.table.Load()
	if now.Loaded || from == nil || now.ServerInfo.ClusterID != "" && now.ServerInfo.ClusterID != from.ClusterID {
		return now
	}
	if s := w.saved.shown.Load(); s != nil && s.of == now {
		return s.table
	}
	s := &shownTable{now, now.over(from)}
	w.saved.shown.Store(s)
	if w.saved.table.Load() == nil { // dropped meanwhile
		w.saved.shown.Store(nil)
	}
	return s.table
}

// over is the table with the parts of a saved one where it has none.
func (t *Table) over(from *Table) *Table {
	next := *t
	next.Loaded, next.Saved, next.ServerInfo = true, from.Saved, from.ServerInfo
	next.Health = maps.Clone(t.Health)
	for _, p := range savedParts {
		h := next.Health[p]
		if !h.At.IsZero() {
			continue
		}
		h.At = from.Saved
		next.Health[p] = h
		switch p {
		case PartRouting:
			next.Collections, next.FlagsRead = from.Collections, from.FlagsRead
		case PartShards:
			next.Shards = from.Shards
		case PartDatabases:
			next.Databases = from.Databases
		case PartZones:
			next.Zones = from.Zones
		case PartSettings:
			next.Balancer = from.Balancer
		case PartCollections:
			next.Unsharded = from.Unsharded
		}
	}
	next.Zones = completeZones(rawZones(next.Zones), &next)
	return &next
}

// comparable is the saved table that a poll goes on from; nil where there is none of this cluster.
func (w *Watcher) comparable(base *Table, info *ServerInfo) *Table {
	from := w.saved.table.Load()
	if from == nil {
		return nil
	}
	id := base.ServerInfo.ClusterID
	if info != nil {
		id = info.ClusterID
	}
	if id == from.ClusterID {
		return from
	}
	w.o.Log.Warn("the saved routing table is of another cluster than the one that answers, so it is not used",
		"saved", from.ClusterID, "cluster", cmp.Or(id, "not known"))
	w.saved.drop()
	return nil
}

// Showing is a watcher whose Table is the one that pages show.
type Showing struct{ *Watcher }

// Table is Shown.
func (s Showing) Table() *Table { return s.Shown() }

// Subscribe is the watcher's, with the table that is shown.
func (s Showing) Subscribe() (*Table, <-chan struct{}, func()) {
	_, newer, end := s.Watcher.Subscribe()
	return s.Shown(), newer, end
}
