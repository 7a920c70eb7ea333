package topology

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/shardkey"
)

// DamageKind is what is wrong with a collection's routing table.
type DamageKind string

// The kinds, with the names that checkMetadataConsistency (7.0) gives them.
const (
	DamageGap     DamageKind = "gap"     // RoutingTableRangeGap: no chunk covers some keys
	DamageOverlap DamageKind = "overlap" // RoutingTableRangeOverlap: two chunks cover some keys
	DamageBound   DamageKind = "bound"   // CorruptedChunkShardKey: a bound is no value of the shard key
	DamageEmpty   DamageKind = "empty"   // MissingRoutingTable: there are no chunks
	// DamageUnread is no damage that is known: the collection's chunks could not be read, or changed during each read.
	DamageUnread DamageKind = "unread"
)

// Inconsistency is MongoDB's name of a kind of damage; "" for none.
func (k DamageKind) Inconsistency() string {
	return map[DamageKind]string{DamageGap: "RoutingTableRangeGap", DamageOverlap: "RoutingTableRangeOverlap",
		DamageBound: "CorruptedChunkShardKey", DamageEmpty: "MissingRoutingTable"}[k]
}

// Damage says that the routing table of one collection cannot be used, and why. mongos refuses every operation on such
// a collection; all others are sound. The table keeps the last good picture of it in Collections, where there is one.
type Damage struct {
	Meta
	Kind   DamageKind
	Since  time.Time // when it was seen first
	Places []DamagedRange
	More   int     // places beyond those listed
	Text   string  // why it was not read: for DamageUnread
	NoRoom *NoRoom // because Options.Grow refused it: Text has nothing of a server; nil otherwise

	torn *ChunkBuilder // what the metadata says all the same; nil if there is nothing

	highest Version
	read    time.Time // when the last try ended
	took    time.Duration
}

// DamagedRange is a range of keys that has no owner, or several, or a chunk whose bounds are no values of the shard
// key.
type DamagedRange struct {
	Min, Max       shardkey.Key // zero where the bounds are no keys
	RawMin, RawMax bson.Raw     // as written, where they are no keys
	Shards         []string     // those that own it; several for an overlap, the chunk's own for a bound
}

// maxDamagedRanges is how many places are listed.
const maxDamagedRanges = 20

// maxRereadShare is the share of the time that reading damaged collections again may take: one that was mended is found
// at the next poll if it is small.
const maxRereadShare = 20

// DamageOf finds the damage of a collection; nil if it has none.
func (t *Table) DamageOf(ns Namespace) *Damage {
	i, ok := slices.BinarySearchFunc(t.Damaged, ns, func(d *Damage, ns Namespace) int { return cmp.Compare(d.NS, ns) })
	if !ok {
		if IsBuckets(ns) || t.named(ns) != nil {
			return nil
		}
		return t.DamageOf(BucketsOf(ns))
	}
	return t.Damaged[i]
}

// Missing are the collections that have no chunks here, because of their damage.
func (t *Table) Missing(yield func(*Damage) bool) {
	for _, d := range t.Damaged {
		if t.Collection(d.NS) == nil && !yield(d) {
			return
		}
	}
}

// Owners are the shards that own a key by the metadata, and the range that they own: none in a gap, several in an
// overlap. known is false when the metadata says nothing.
func (d *Damage) Owners(k shardkey.Key) (shards []string, of shardkey.Range, known bool) {
	if d.torn == nil {
		return nil, of, false
	}
	for _, p := range d.Places {
		if !p.Min.IsZero() && p.Min.Compare(k) <= 0 && k.Compare(p.Max) < 0 {
			return p.Shards, shardkey.Range{Min: p.Min, Max: p.Max}, true
		}
	}
	_, c := d.torn.m.Find(k)
	return d.torn.ownersOf(k), shardkey.Range{Min: c.Min, Max: c.Max}, true
}

// due reports whether a damaged collection is to be read again. One that found no room changes without getting any.
func (d *Damage) due(h Head, wrong bool, now time.Time) bool {
	if d.NoRoom != nil {
		return !sameLife(d.Meta, h.Meta) || now.Sub(d.read) >= d.NoRoom.wait
	}
	return wrong || d.highest != h.Highest || !sameLife(d.Meta, h.Meta) || now.Sub(d.read) >= maxRereadShare*d.took
}

// same reports whether two findings say the same, times aside.
func (d *Damage) same(o *Damage) bool {
	return o != nil && d.Kind == o.Kind && d.Meta.Equal(o.Meta) && d.Text == o.Text && d.More == o.More &&
		slices.EqualFunc(d.Places, o.Places, func(a, b DamagedRange) bool {
			return a.Min.Compare(b.Min) == 0 && a.Max.Compare(b.Max) == 0 && slices.Equal(a.RawMin, b.RawMin) &&
				slices.Equal(a.RawMax, b.RawMax) && slices.Equal(a.Shards, b.Shards)
		})
}

// OddChunksError comes with the chunks of a collection when some of them are none: their bounds are no values of the
// shard key. It is ErrTorn, because a collection whose key is being changed looks the same for a moment.
type OddChunksError struct {
	Rows  []OddChunk // at most maxDamagedRanges
	Count int
	First error
}

// OddChunk is a row of config.chunks that is no chunk of its collection.
type OddChunk struct {
	Min, Max bson.Raw
	Shard    string
}

// Add counts a row. Its bounds are copied.
func (e *OddChunksError) Add(row OddChunk, err error) {
	if e.Count == 0 {
		e.First = err
	}
	if e.Count++; len(e.Rows) < maxDamagedRanges {
		row.Min, row.Max = slices.Clone(row.Min), slices.Clone(row.Max)
		e.Rows = append(e.Rows, row)
	}
}

func (e *OddChunksError) Error() string {
	return fmt.Sprintf("%d chunks have bounds that are no values of the shard key: %v", e.Count, e.First)
}

// Unwrap gives ErrTorn and the reason of the first.
func (e *OddChunksError) Unwrap() []error { return []error{ErrTorn, e.First} }

// damage says what a load found that was read twice without a change between, and is no routing table.
func (l *load) damage(now time.Time) *Damage {
	d := &Damage{Meta: l.head.Meta, Kind: DamageUnread, Since: now, highest: l.head.Highest, read: now, took: now.Sub(l.allRead)}
	switch {
	case l.head.Highest.IsZero():
		d.Kind = DamageEmpty
	case l.stable && l.torn != nil:
		d.Kind, d.Places, d.More = l.torn.places()
		if l.odd != nil {
			d.Kind, d.More = DamageBound, d.More+l.odd.Count-len(l.odd.Rows)
			for _, r := range l.odd.Rows {
				d.Places = append(d.Places, DamagedRange{RawMin: r.Min, RawMax: r.Max, Shards: []string{r.Shard}})
			}
		}
	case l.err != nil:
		d.Text, d.NoRoom = fault.Text(l.err), noRoomOf(l.err)
	}
	if d.NoRoom != nil {
		d.NoRoom.Kept = l.base != nil && !l.unverified
		d.Text = d.NoRoom.Message(d.NS).String()
	}
	if d.Kind != DamageEmpty && d.Kind != DamageUnread && l.torn != nil && len(l.torn.m.buckets) > 0 {
		d.torn = l.torn
	}
	return d
}

// places lists the keys that no chunk or several chunks cover, in key order, after Finish.
func (b *ChunkBuilder) places() (kind DamageKind, out []DamagedRange, more int) {
	kind = DamageGap
	cuts := b.cuts()
	for i := 1; i < len(cuts); i++ {
		shards := b.ownersOf(cuts[i-1])
		if len(shards) == 1 {
			continue
		}
		if len(shards) > 1 {
			kind = DamageOverlap
		}
		r := DamagedRange{Min: cuts[i-1], Max: cuts[i], Shards: shards}
		if n := len(out); n > 0 && out[n-1].Max.Compare(r.Min) == 0 && slices.Equal(out[n-1].Shards, shards) {
			out[n-1].Max = r.Max
		} else if n == maxDamagedRanges {
			more++
		} else {
			out = append(out, r)
		}
	}
	return kind, out, more
}

// cuts are the keys at which the owners can change where something is wrong, in order.
func (b *ChunkBuilder) cuts() (cuts []shardkey.Key) {
	if b.gaps > 0 {
		for _, c := range b.m.All() {
			if c.Version.IsZero() {
				cuts = append(cuts, c.Min, c.Max)
			}
		}
	}
	for _, c := range b.beside {
		cuts = append(cuts, c.Min, c.Max)
		from, to := b.m.Overlap(shardkey.Range{Min: c.Min, Max: c.Max})
		for _, o := range b.m.Range(from, to) {
			cuts = append(cuts, o.Min, o.Max)
		}
	}
	slices.SortFunc(cuts, shardkey.Key.Compare)
	return slices.CompactFunc(cuts, func(a, b shardkey.Key) bool { return a.Compare(b) == 0 })
}

// ownersOf are the shards of all rows that cover a key. The same row read twice is one.
func (b *ChunkBuilder) ownersOf(k shardkey.Key) (shards []string) {
	_, at := b.m.Find(k)
	if !at.Version.IsZero() {
		shards = append(shards, at.Shard)
	}
	for _, c := range b.beside {
		if c.Min.Compare(k) <= 0 && k.Compare(c.Max) < 0 && !sameRow(c, at) {
			shards = append(shards, c.Shard)
		}
	}
	return shards
}

func sameRow(a, b Chunk) bool {
	return a.Version == b.Version && a.Min.Compare(b.Min) == 0 && a.Max.Compare(b.Max) == 0
}
