package history

import (
	"slices"

	"shardboard/internal/natural"
	"shardboard/internal/topology"
)

// Comparison is the difference between two states.
type Comparison struct {
	Collections []CollectionChange // changed collections by name
	Shards      []ShardChange      // all shards by name
	Zones       ZoneChange
	// Hidden is how many changed collections of the server itself were left out.
	Hidden int
}

// CollectionChange is the change of one collection.
type CollectionChange struct {
	NS                         topology.Namespace
	Created, Dropped, Reloaded bool
	Moved, Split, Merged       int
	Changes                    []topology.Change // in key order; empty when created, dropped or reloaded
}

// ShardChange is one shard before and after, without the server's own collections, as on the
// overview. Chunks are those of sharded collections; bytes are of all collections, and known only
// if every collection's are.
type ShardChange struct {
	Shard                     string
	ChunksBefore, ChunksAfter int
	BytesBefore, BytesAfter   topology.Figure
}

// ZoneChange lists added and removed zone ranges.
type ZoneChange struct{ Added, Removed []topology.ZoneRange }

// Compare returns the difference between two tables, the older first. Without internal the server's
// own collections are left out of the list; sums never include them.
func Compare(before, after *topology.Table, internal bool) Comparison {
	var out Comparison
	for _, c := range before.Collections {
		if after.Collection(c.NS) == nil {
			out.Collections = append(out.Collections, CollectionChange{NS: c.NS, Dropped: true})
		}
	}
	for _, c := range after.Collections {
		if change, differs := compareCollection(before.Collection(c.NS), c); differs {
			out.Collections = append(out.Collections, change)
		}
	}
	if !internal {
		all := len(out.Collections)
		out.Collections = slices.DeleteFunc(out.Collections, func(c CollectionChange) bool { return topology.IsInternal(c.NS) })
		out.Hidden = all - len(out.Collections)
	}
	slices.SortFunc(out.Collections, func(a, b CollectionChange) int { return natural.Compare(a.NS, b.NS) })
	out.Shards = compareShards(before, after)
	out.Zones.Added, out.Zones.Removed = zonesBeyond(after, before), zonesBeyond(before, after)
	return out
}

func compareCollection(before, after *topology.Collection) (CollectionChange, bool) {
	out := CollectionChange{NS: after.NS}
	switch {
	case before == nil:
		out.Created = true
		return out, true
	case before.Incarnation != after.Incarnation:
		out.Reloaded = true
		return out, true
	}
	_, changes, err := before.Chunks.Apply(after.Chunks.Delta(before.Chunks))
	if err != nil {
		out.Reloaded = true
		return out, true
	}
	for i := range changes {
		changes[i].NS = after.NS
		switch changes[i].Kind {
		case topology.Moved:
			out.Moved++
		case topology.Split:
			out.Split++
		case topology.Merged:
			out.Merged++
		}
	}
	out.Changes = changes
	return out, len(changes) > 0
}

func compareShards(before, after *topology.Table) []ShardChange {
	byName := map[string]*ShardChange{}
	of := func(name string) *ShardChange {
		if byName[name] == nil {
			byName[name] = &ShardChange{Shard: name}
		}
		return byName[name]
	}
	for _, s := range slices.Concat(before.Shards, after.Shards) {
		of(s.Name)
	}
	chunksOn(before, func(shard string, n int) { of(shard).ChunksBefore += n })
	chunksOn(after, func(shard string, n int) { of(shard).ChunksAfter += n })
	out := make([]ShardChange, 0, len(byName))
	for _, s := range byName {
		s.BytesBefore, s.BytesAfter = bytesOn(before, s.Shard), bytesOn(after, s.Shard)
		out = append(out, *s)
	}
	slices.SortFunc(out, func(a, b ShardChange) int { return natural.Compare(a.Shard, b.Shard) })
	return out
}

func chunksOn(t *topology.Table, add func(shard string, n int)) {
	for _, c := range t.Collections {
		if topology.IsInternal(c.NS) || c.Unsplittable {
			continue
		}
		for shard, n := range c.Chunks.CountByShard() {
			add(shard, n)
		}
	}
}

// bytesOn adds up a shard's collections; unknown if one of them is.
func bytesOn(t *topology.Table, shard string) topology.Figure {
	sum := topology.Figure{Known: true, Exact: true, Method: "collStats"}
	names := slices.Clone(t.Unsharded)
	for _, c := range t.Collections {
		names = append(names, c.NS)
	}
	for _, ns := range names {
		if topology.IsInternal(ns) {
			continue
		}
		f := t.SizeOn(ns, shard).Bytes
		if !f.Known {
			return topology.Figure{Reason: f.Reason}
		}
		sum.Value, sum.Exact = sum.Value+f.Value, sum.Exact && f.Exact
		if sum.At.IsZero() || f.At.Before(sum.At) {
			sum.At = f.At
		}
		if f.Method != "" {
			sum.Method = f.Method
		}
	}
	return sum
}

// zonesBeyond lists the ranges of a that b lacks.
func zonesBeyond(a, b *topology.Table) []topology.ZoneRange {
	type id struct {
		ns       topology.Namespace
		zone     string
		min, max string
	}
	of := func(z topology.ZoneRange) id { return id{z.NS, z.Zone, string(z.RawMin), string(z.RawMax)} }
	has := make(map[id]bool, len(b.Zones))
	for _, z := range b.Zones {
		has[of(z)] = true
	}
	var out []topology.ZoneRange
	for _, z := range a.Zones {
		if !has[of(z)] {
			out = append(out, z)
		}
	}
	return out
}
