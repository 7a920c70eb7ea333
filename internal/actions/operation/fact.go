package operation

import (
	"maps"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// FactKind says what a fact is about.
type FactKind string

// What can be read from a cluster before and after a command. The parentheses list
// the fields. Values are text in their usual form (hex, "major|minor", "true").
const (
	// NS (uuid, timestamp, epoch, key, noBalance, migrationsBlocked, resharding, chunkSize: "default" or "64 MiB",
	// autoMerge, defragmenting, defragmentationEnds: "true" when it is in its last phase or not running).
	FactCollection FactKind = "collection"
	FactChunk      FactKind = "chunk" // NS, Min, Max: the chunk with exactly these bounds (exists, shard, lastmod, jumbo)
	// NS, Min, Max: the chunks of the range (shards: names joined by ",",
	// chunks: how many, edges: "true" when a chunk begins at Min and one ends at Max).
	FactCover     FactKind = "cover"
	FactHeld      FactKind = "held"      // NS, Min, Max, Shard: the shard's chunks that overlap the range (chunks: how many)
	FactEdge      FactKind = "edge"      // NS, Min: whether a chunk begins exactly there (exists)
	FactZoneRange FactKind = "zoneRange" // NS, Min, Max: the range with exactly these bounds (zone; "" when there is none)
	FactZoneFree  FactKind = "zoneFree"  // NS, Min, Max: zone ranges that overlap this one (ranges: how many, others: joined bounds)
	FactShardZone FactKind = "shardZone" // Shard, Zone (member)
	FactShard     FactKind = "shard"     // Shard (exists, draining)
	FactBalancer  FactKind = "balancer"  // (on, windowStart, windowStop, windowDays, windowRefused)
	FactDatabase  FactKind = "database"  // DB (exists, primary, version)
	FactPlace     FactKind = "place"     // NS: of a collection that may be unsharded (exists, sharded, shard, uuid)
	// Shard: what is left on it (chunks: in the routing table, also of unsharded collections;
	// databases: how many have it as primary shard)
	FactRemains FactKind = "remains"
	// Shard: whether the others can do without it (others: "true" when another shard stays,
	// onlyOf: zones with ranges that no other staying shard is in, joined)
	FactSpare FactKind = "spare"

	// NS, Was: the collection in relation to its UUID before (key, replaced: whether it has
	// another UUID, resharding).
	FactResharded FactKind = "resharded"
	// NS: its running resharding (id, newKey); without NS: those of all collections
	// (running: namespaces joined by ",").
	FactResharding FactKind = "resharding"
	// The maintenance window of shardboard, which is not read from the cluster (state: "open" or "closed").
	FactMaintenance FactKind = "maintenance"
)

// Fact is a statement about the cluster that can be read from it with majority read
// concern: a precondition before a command, or a proof after it.
type Fact struct {
	Kind     FactKind
	NS       topology.Namespace
	DB       string   `json:",omitempty"`
	Min, Max bson.Raw // complete shard keys as documents; zone ranges as stored
	Shard    string
	Zone     string
	Was      string            `json:",omitempty"` // a UUID
	Want     map[string]string // field → value; other fields may have any value
}

// Difference is one field that does not have the expected value.
type Difference struct {
	Fact      Fact
	Field     string
	Want, Got string
}

// Against compares the fields that were read with the expected ones, in the order of
// their names. A field that was not read counts as a difference.
func (f Fact) Against(got map[string]string) []Difference {
	var out []Difference
	for _, field := range slices.Sorted(maps.Keys(f.Want)) {
		if value, read := got[field]; !read || value != f.Want[field] {
			out = append(out, Difference{Fact: f, Field: field, Want: f.Want[field], Got: value})
		}
	}
	return out
}
