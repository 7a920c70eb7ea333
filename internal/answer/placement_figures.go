package answer

import (
	"cmp"
	"slices"

	"shardboard/internal/topology"
)

// PlacementFigures are what each shard has of each collection, for metrics. Unlike the lists that pages show, it has
// a bounded number of collections: the largest ones, and the sum of all others.
type PlacementFigures struct {
	Load        Load                // shards, and what each has of everything
	Collections []CollectionFigures // most bytes first
	Others      []ShardFigures      // sums of all other collections, parallel to the shards
	OtherCount  int
}

// CollectionFigures is one collection.
type CollectionFigures struct {
	NS        topology.Namespace
	Sharded   bool
	Zoned     bool           // it has zone ranges
	Imbalance float64        // as of Load.Imbalance; negative where it is not known
	Shards    []ShardFigures // parallel to the shards
}

// ShardFigures is a part of one collection, or of several, on one shard.
type ShardFigures struct {
	Has                                          bool // the shard has or may get a part of it
	Bytes, Documents, Orphans, Storage, Indexes  topology.Figure
	Chunks, Jumbo                                int // of sharded collections
	Misplaced                                    int // chunks of zone ranges on this shard, which is not in the zone
	bytes, documents, orphans, storages, indexes Sum // of several collections
}

// PlacementOf reads a table. It lists at most so many collections, and reads sums that are kept with the chunks:
// its cost follows the number of collections and shards, not that of chunks.
func PlacementOf(t *topology.Table, most int) PlacementFigures {
	out := PlacementFigures{Load: LoadOf(t), Others: make([]ShardFigures, len(t.Shards))}
	type sized struct {
		ns    topology.Namespace
		bytes int64
	}
	var all []sized
	for ns := range Namespaces(t) {
		if System(t, ns) {
			continue
		}
		bytes, _, _ := SizeOf(t, ns)
		all = append(all, sized{ns, bytes.Value}) // 0 while it is not known
	}
	slices.SortFunc(all, func(a, b sized) int { return cmp.Or(cmp.Compare(b.bytes, a.bytes), cmp.Compare(a.ns, b.ns)) })
	for i, one := range all {
		c := collectionFigures(t, one.ns)
		if i < most {
			out.Collections = append(out.Collections, c)
			continue
		}
		out.OtherCount++
		for s := range out.Others {
			out.Others[s].add(c.Shards[s])
		}
	}
	for s := range out.Others {
		o := &out.Others[s]
		o.Bytes, o.Documents, o.Orphans = o.bytes.Figure(), o.documents.Figure(), o.orphans.Figure()
		o.Storage, o.Indexes = o.storages.Figure(), o.indexes.Figure()
	}
	return out
}

func collectionFigures(t *topology.Table, ns topology.Namespace) CollectionFigures {
	out := CollectionFigures{NS: ns, Imbalance: -1, Shards: make([]ShardFigures, len(t.Shards))}
	c := t.Collection(ns)
	out.Sharded = c != nil && Sharded(c)
	home := t.Home(ns)
	var counts, jumbo, misplaced map[string]int
	if out.Sharded {
		counts, jumbo = c.Chunks.CountByShard(), c.Chunks.JumboByShard()
		misplaced, out.Zoned = misplacedOf(t, ns)
	}
	for i, s := range t.Shards {
		one := &out.Shards[i]
		size := t.SizeOn(ns, s.Name)
		_, stored := t.Sizes[ns].Shards[s.Name]
		one.Has = out.Sharded || stored || s.Name == home
		one.Bytes, one.Documents, one.Orphans, one.Storage, one.Indexes = size.Bytes, size.Documents, size.Orphans, size.Storage, size.Indexes
		one.Chunks, one.Jumbo, one.Misplaced = counts[s.Name], jumbo[s.Name], misplaced[s.Name]
	}
	if out.Sharded {
		figures := make([]topology.Figure, len(out.Shards))
		for i, s := range out.Shards {
			figures[i] = s.Bytes
		}
		out.Imbalance = imbalanceOf(t.Shards, figures)
	}
	return out
}

// misplacedOf adds up a collection's zone ranges; zoned is false where it has none that fit its key.
func misplacedOf(t *topology.Table, ns topology.Namespace) (out map[string]int, zoned bool) {
	out = map[string]int{}
	for _, z := range t.ZonesOf(ns) {
		on, ok := t.MisplacedByShard(z)
		zoned = zoned || ok
		for shard, n := range on {
			out[shard] += n
		}
	}
	return out, zoned
}

func (f *ShardFigures) add(o ShardFigures) {
	if !o.Has {
		return
	}
	f.Has = true
	f.bytes.Add(o.Bytes)
	f.documents.Add(o.Documents)
	f.orphans.Add(o.Orphans)
	f.storages.Add(o.Storage)
	f.indexes.Add(o.Indexes)
	f.Chunks, f.Jumbo, f.Misplaced = f.Chunks+o.Chunks, f.Jumbo+o.Jumbo, f.Misplaced+o.Misplaced
}

// Imbalance is how far the fullest shard is above the mean by bytes: 0 is even, 1 is twice the mean. Shards that
// drain do not count. It is negative where the bytes of a shard are not known, and with fewer than two shards.
func (l Load) Imbalance() float64 { return imbalanceOf(l.Shards, l.Bytes) }

func imbalanceOf(shards []topology.Shard, bytes []topology.Figure) float64 {
	var top, total float64
	n := 0
	for i, s := range shards {
		if s.Draining {
			continue
		}
		if !bytes[i].Known {
			return -1
		}
		n++
		top, total = max(top, float64(bytes[i].Value)), total+float64(bytes[i].Value)
	}
	switch {
	case n < 2:
		return -1
	case total == 0:
		return 0
	}
	return top/(total/float64(n)) - 1
}

// Unmeasured is how many collections have no sizes yet, and how many have.
func (l Load) Unmeasured() (unread, measured int) { return l.unread, l.measured }
