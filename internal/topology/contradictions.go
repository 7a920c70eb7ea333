package topology

import (
	"cmp"
	"slices"
	"time"
)

// ContradictionKind is how two rows of the metadata contradict each other.
type ContradictionKind string

// The kinds, where MongoDB has a name for them with the one of its error or of checkMetadataConsistency (7.0).
const (
	ChunkOwnerUnknown ContradictionKind = "chunkOwner"   // ShardNotFound: config.chunks names a shard that config.shards has not
	PrimaryUnknown    ContradictionKind = "primaryShard" // ShardNotFound: config.databases names a shard that config.shards has not
	DatabaseUnknown   ContradictionKind = "database"     // NamespaceNotFound: config.databases has no row for a collection's database
	ManyChunks        ContradictionKind = "unsplittable" // TrackedUnshardedCollectionHasMultipleChunks
	ZoneBound         ContradictionKind = "zoneBound"    // CorruptedZoneShardKey: a zone's range has bounds that are no keys
	ZonesOverlap      ContradictionKind = "zonesOverlap" // ZonesRangeOverlap: two ranges of zones have keys in common
)

// Name is what MongoDB calls it.
func (k ContradictionKind) Name() string {
	return map[ContradictionKind]string{ChunkOwnerUnknown: "ShardNotFound", PrimaryUnknown: "ShardNotFound",
		DatabaseUnknown: "NamespaceNotFound", ManyChunks: "TrackedUnshardedCollectionHasMultipleChunks",
		ZoneBound: "CorruptedZoneShardKey", ZonesOverlap: "ZonesRangeOverlap"}[k]
}

// Contradiction is one thing that two parts of the metadata say differently. Which of its names are set depends on its
// kind.
type Contradiction struct {
	Kind     ContradictionKind
	NS       Namespace
	Database string
	Shard    string
	Zone     string
	Other    string    // the zone of the second range
	Chunks   int       // chunks of NS concerned
	Since    time.Time // when it was first seen
	// Confirmed tells that all parts were read again after it was seen: it is not that one of them was read before a
	// change and another after it.
	Confirmed bool
}

// same tells whether both are about the same rows.
func (c Contradiction) same(o Contradiction) bool {
	c.Chunks, c.Since, c.Confirmed = o.Chunks, o.Since, o.Confirmed
	return c == o
}

// contradict finds what the parts of a loaded table say differently, sorted by kind and names. It keeps since when that
// has been seen. It costs the number of collections.
func (t *Table) contradict(was []Contradiction, now time.Time) []Contradiction {
	var out []Contradiction
	for _, d := range t.Databases {
		if d.Primary != "" && !IsServerDatabase(d.Name) && t.Shard(d.Primary) == nil {
			out = append(out, Contradiction{Kind: PrimaryUnknown, Database: d.Name, Shard: d.Primary})
		}
	}
	for _, c := range t.Collections {
		out = append(out, t.withoutDatabase(c.NS)...)
		if n := c.Chunks.Len(); c.Unsplittable && n > 1 {
			out = append(out, Contradiction{Kind: ManyChunks, NS: c.NS, Chunks: n})
		}
		if c.Chunks == nil {
			continue
		}
		for i, n := range c.Chunks.counts {
			if name := c.Chunks.names[i]; n > 0 && t.Shard(name) == nil {
				out = append(out, Contradiction{Kind: ChunkOwnerUnknown, NS: c.NS, Shard: name, Chunks: n})
			}
		}
	}
	for _, d := range t.Damaged {
		if t.Collection(d.NS) == nil {
			out = append(out, t.withoutDatabase(d.NS)...)
		}
	}
	out = append(out, t.zoneContradictions()...)
	slices.SortStableFunc(out, func(a, b Contradiction) int {
		return cmp.Or(cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.NS, b.NS), cmp.Compare(a.Database, b.Database), cmp.Compare(a.Shard, b.Shard))
	})
	for i := range out {
		out[i].Since = now
		if at := slices.IndexFunc(was, out[i].same); at >= 0 {
			out[i].Since, out[i].Confirmed = was[at].Since, was[at].Confirmed
		}
	}
	return out
}

// zoneContradictions are the ranges of zones of sharded collections that are none, and those that overlap.
func (t *Table) zoneContradictions() (out []Contradiction) {
	for i, z := range t.Zones {
		if t.Collection(z.NS) == nil {
			continue
		}
		if z.Min.IsZero() {
			c := Contradiction{Kind: ZoneBound, NS: z.NS, Zone: z.Zone}
			if !slices.ContainsFunc(out, c.same) {
				out = append(out, c)
			}
			continue
		}
		if i > 0 && t.Zones[i-1].NS == z.NS && !t.Zones[i-1].Min.IsZero() && z.Min.Compare(t.Zones[i-1].Max) < 0 {
			c := Contradiction{Kind: ZonesOverlap, NS: z.NS, Zone: t.Zones[i-1].Zone, Other: z.Zone}
			if !slices.ContainsFunc(out, c.same) {
				out = append(out, c)
			}
		}
	}
	return out
}

// withoutDatabase is the contradiction of a collection whose database has no row.
func (t *Table) withoutDatabase(ns Namespace) []Contradiction {
	name := ns.Database()
	_, has := slices.BinarySearchFunc(t.Databases, name, func(d Database, name string) int { return cmp.Compare(d.Name, name) })
	if has || IsServerDatabase(name) {
		return nil
	}
	return []Contradiction{{Kind: DatabaseUnknown, NS: ns, Database: name}}
}

// compare finds what the parts of the table contradict, and confirms what was seen before all of them were read again.
// It tells whether that is news.
func (t *Table) compare(now time.Time) (loud bool) {
	for _, p := range loadedParts {
		if t.Health[p].At.IsZero() {
			return false
		}
	}
	next := t.contradict(t.Contradictions, now)
	for i := range next {
		if since := next[i].Since; since.Before(t.slowBegan) && since.Before(t.Health[PartRouting].At) {
			next[i].Confirmed = true
		}
	}
	loud = !slices.Equal(next, t.Contradictions)
	t.Contradictions = next
	return loud
}

// unconfirmed tells whether parts have to be read again before it is known that they contradict each other.
func (t *Table) unconfirmed() bool {
	return slices.ContainsFunc(t.Contradictions, func(c Contradiction) bool { return !c.Confirmed })
}
