package actions

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// FactKind says what a fact is about.
type FactKind string

// What can be read of a cluster before and after a command. The fields in
// parentheses are those that Want and what was read may have; a value is text in
// the form in which people know it (hex, "major|minor", "true").
const (
	FactCollection FactKind = "collection" // NS (uuid, timestamp, epoch, key, noBalance, migrationsBlocked)
	FactChunk      FactKind = "chunk"      // NS, Min, Max: the chunk with exactly these bounds (exists, shard, lastmod, jumbo)
	// NS, Min, Max: the chunks that fill the range (shards: names joined by ",",
	// chunks: how many, edges: "true" when a chunk begins at Min and one ends at Max).
	FactCover     FactKind = "cover"
	FactHeld      FactKind = "held"      // NS, Min, Max, Shard: the shard's chunks that meet the range (chunks: how many)
	FactEdge      FactKind = "edge"      // NS, Min: does a chunk begin exactly there (exists)
	FactZoneRange FactKind = "zoneRange" // NS, Min, Max: the range with exactly these bounds (zone; "" when there is none)
	FactZoneFree  FactKind = "zoneFree"  // NS, Min, Max: zone ranges that meet this one (ranges: how many, others: joined bounds)
	FactShardZone FactKind = "shardZone" // Shard, Zone (member)
	FactShard     FactKind = "shard"     // Shard (exists, draining)
	FactBalancer  FactKind = "balancer"  // (on, windowStart, windowStop)
)

// Fact is a statement about the cluster that can be read from it, by the
// majority of the config servers: a precondition before a command, a proof after.
type Fact struct {
	Kind     FactKind
	NS       topology.Namespace
	Min, Max bson.Raw // complete shard keys as documents; zone ranges as stored
	Shard    string
	Zone     string
	Want     map[string]string // field → value; fields that are not named may be anything
}

// Difference is one field that is not as wanted.
type Difference struct {
	Fact      Fact
	Field     string
	Want, Got string
}

// Against compares what was read with what is wanted, field by field, in the
// order of names. A field that was not read is a difference, never a match.
func (f Fact) Against(got map[string]string) []Difference {
	var out []Difference
	for _, field := range slices.Sorted(maps.Keys(f.Want)) {
		if value, read := got[field]; !read || value != f.Want[field] {
			out = append(out, Difference{Fact: f, Field: field, Want: f.Want[field], Got: value})
		}
	}
	return out
}
