package topology

import (
	"cmp"
	"slices"
	"time"
)

// turn is what one routing poll found to do.
type turn struct {
	base  *Table
	keep  []*Collection // unchanged, or changed without a new chunk
	loads []*load
	drops []Namespace
	meta  bool // some collection changed without a new chunk, or is as it was saved

	flagsRead map[Namespace]time.Time // since when the flags of saved collections were read

	damaged []*Damage // found before, and not read again in this turn
	empty   []Head    // without a chunk
}

// load is one collection whose chunks must be read.
type load struct {
	head Head
	base *Collection // what the table has; nil if new
	full bool

	refused *Damage // that it found no room before; nil where it is not known for this life of the collection
	begun   bool    // something was read, so that there was room

	unverified bool // base was saved by an earlier process, and must not be kept where it cannot be compared

	// Of a load of all chunks: those read, until what changed meanwhile is read too, and
	// when that load began.
	read    *ChunkBuilder
	allRead time.Time

	// Of a load whose chunks are no routing table: what was read, rows that are no chunks, and whether nothing changed
	// between two reads that found it so.
	torn   *ChunkBuilder
	odd    *OddChunksError
	stable bool
	tries  int // reads that found the same versions before and after, and no routing table

	next    *Collection // nil: not read, the table keeps what it has
	gone    bool        // dropped while it was read
	changes []Change
	err     error
}

// newTurn finds what to do. saved is the table of an earlier process whose collections stand for those that base does
// not have; nil for none.
func newTurn(base, saved *Table, heads []Head, covers func(Namespace) bool, reload map[Namespace]bool) *turn {
	t := &turn{base: base, flagsRead: map[Namespace]time.Time{}}
	seen := make(map[Namespace]bool, len(heads))
	for _, h := range heads {
		if seen[h.NS] {
			continue
		}
		seen[h.NS] = true
		c, d := base.Collection(h.NS), base.DamageOf(h.NS)
		switch {
		case h.Highest.IsZero():
			t.keepAs(c, nil)
			t.empty = append(t.empty, h)
		case d != nil && !d.due(h, reload[h.NS], time.Now()):
			t.keepAs(c, d)
		case d != nil:
			l := &load{head: h, base: c, full: true}
			if d.NoRoom != nil && sameLife(d.Meta, h.Meta) {
				l.refused = d
				l.full = c == nil || reload[h.NS] || !c.continuedBy(h)
			}
			t.loads = append(t.loads, l)
		case c == nil && saved != nil && !reload[h.NS]:
			t.goOn(saved, h)
		case c == nil:
			t.loads = append(t.loads, &load{head: h, full: true})
		case reload[h.NS] || !c.continuedBy(h):
			t.loads = append(t.loads, &load{head: h, base: c, full: true})
		case c.Highest != h.Highest:
			t.loads = append(t.loads, &load{head: h, base: c})
		case !c.Meta.Equal(h.Meta):
			t.keepWith(c, h.Meta)
		default:
			t.keep = append(t.keep, c)
		}
	}
	for _, c := range base.Collections {
		switch {
		case seen[c.NS]:
		case covers(c.NS):
			t.drops = append(t.drops, c.NS)
		default:
			t.keep = append(t.keep, c)
		}
	}
	for _, d := range base.Damaged {
		if !seen[d.NS] && !covers(d.NS) {
			t.damaged = append(t.damaged, d)
		}
	}
	return t
}

// goOn goes on from a saved collection: with its chunks where none has a higher version now, else with what changed.
// One that it cannot go on from is read as a whole.
func (t *turn) goOn(saved *Table, h Head) {
	c := saved.named(h.NS)
	if c == nil || !c.continuedBy(h) {
		t.loads = append(t.loads, &load{head: h, full: true})
		return
	}
	t.flagsRead[h.NS] = saved.FlagsRead[h.NS]
	if c.Highest != h.Highest {
		t.loads = append(t.loads, &load{head: h, base: c, unverified: true})
		return
	}
	t.keepWith(c, h.Meta)
}

// continuedBy tells whether a head is of the same life of a collection, and not older than what is known of it.
func (c *Collection) continuedBy(h Head) bool {
	return sameLife(c.Meta, h.Meta) && !h.Highest.Less(c.Highest)
}

// keepWith keeps the chunks of a collection with what a head says of it now.
func (t *turn) keepWith(c *Collection, meta Meta) {
	t.keep, t.meta = append(t.keep, &Collection{Meta: meta, Highest: c.Highest, Chunks: c.Chunks}), true
}

// keepAs keeps what the table has of a collection: its chunks and its damage, either of which may be nil.
func (t *turn) keepAs(c *Collection, d *Damage) {
	if c != nil {
		t.keep = append(t.keep, c)
	}
	if d != nil {
		t.damaged = append(t.damaged, d)
	}
}

// findDamaged adds the damage that the loads found. failed says that the cluster did not answer, so that what was not
// read stays as it was.
func (t *turn) findDamaged(failed bool) []*Damage {
	now := time.Now()
	all := slices.Clone(t.damaged)
	for _, l := range t.loads {
		old := t.base.DamageOf(l.head.NS)
		switch {
		case l.gone || l.next != nil:
			continue
		case failed || l.err == nil:
			if old != nil {
				all = append(all, old)
			}
			continue
		}
		d := l.damage(now)
		if old != nil {
			d.Since = old.Since
		}
		all = append(all, d)
	}
	slices.SortFunc(all, func(a, b *Damage) int { return cmp.Compare(a.NS, b.NS) })
	return all
}

// outcome joins what was kept and read, and says whether it differs.
func (t *turn) outcome() (cols []*Collection, changes []Change, changed bool) {
	cols = slices.Clone(t.keep)
	changed = t.meta
	for _, ns := range t.drops {
		changes = append(changes, Change{NS: ns, Kind: Dropped})
	}
	for _, l := range t.loads {
		switch {
		case l.gone:
			if l.base != nil {
				changes = append(changes, Change{NS: l.head.NS, Kind: Dropped})
			}
			continue
		case l.next == nil:
			if l.base != nil && !l.unverified {
				cols = append(cols, l.base)
			}
			continue
		case l.next != l.base || l.unverified:
			changed = true
		}
		cols = append(cols, l.next)
		changes = append(changes, l.changes...)
	}
	slices.SortFunc(cols, func(a, b *Collection) int { return cmp.Compare(a.NS, b.NS) })
	return cols, changes, changed || len(changes) > 0
}

// sameLife tells whether chunks read under one description continue those
// read under the other.
func sameLife(a, b Meta) bool {
	return a.Incarnation == b.Incarnation && a.LegacyChunks == b.LegacyChunks && a.Key.Equal(b.Key)
}

// Equal tells whether two descriptions say the same.
func (a Meta) Equal(b Meta) bool {
	return sameLife(a, b) && a.NS == b.NS && a.Unique == b.Unique && a.NoBalance == b.NoBalance &&
		a.MigrationsBlocked == b.MigrationsBlocked && a.Unsplittable == b.Unsplittable &&
		a.Resharding == b.Resharding && a.Temporary == b.Temporary && a.MaxChunkBytes == b.MaxChunkBytes &&
		a.Series == b.Series && a.Upkeep == b.Upkeep
}
