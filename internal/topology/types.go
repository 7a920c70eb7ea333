// Package topology holds what shardboard knows about a cluster: shards,
// databases, sharded collections with their chunks, zones, the balancer, recent
// events and sizes, as one immutable versioned Table, and the Watcher that
// keeps it at most one poll old.
package topology

import (
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// Namespace is "database.collection".
type Namespace string

// Database is the part before the first dot.
func (n Namespace) Database() string { db, _, _ := strings.Cut(string(n), "."); return db }

// Collection is all after the first dot; collection names may have dots too.
func (n Namespace) Collection() string { _, c, _ := strings.Cut(string(n), "."); return c }

// Version is a chunk version (config.chunks.lastmod): a version, never a time.
type Version struct{ Major, Minor uint32 }

// Incarnation identifies one life of a collection; a change of any part means a full reload.
type Incarnation struct {
	UUID      [16]byte // zero where absent
	Epoch     bson.ObjectID
	Timestamp bson.Timestamp
}

// Meta is what config.collections says of one sharded collection.
type Meta struct {
	NS                Namespace
	Incarnation       Incarnation
	Key               shardkey.Pattern
	Unique            bool
	NoBalance         bool
	MigrationsBlocked bool  // allowMigrations or permitMigrations is false
	Unsplittable      bool  // 8.0+: unsharded but tracked
	Resharding        bool  // has reshardingFields
	Temporary         bool  // db.system.resharding.*
	MaxChunkBytes     int64 // 0 = the cluster's setting
	LegacyChunks      bool  // 4.4 format: chunks keyed by ns instead of uuid
	Series            Series
	Upkeep            // what the balancer does with its chunks beside moving them
}

// Head is one row of the routing poll: a collection and its highest chunk version.
type Head struct {
	Meta
	Highest Version // zero: no chunk found
}

// Chunk is one row of the routing table. Identity is (collection uuid, Min).
type Chunk struct {
	Min, Max shardkey.Key // [Min, Max)
	Shard    string
	Version  Version
	Since    bson.Timestamp // history[0].validAfter; zero if absent
	Jumbo    bool
}

// Shard is a row of config.shards.
type Shard struct {
	Name     string
	ReplSet  string
	Hosts    []string
	Draining bool
	Zones    []string
}

// Database is a row of config.databases.
type Database struct {
	Name    string
	Primary string
	Version DatabaseVersion
}

// DatabaseVersion is the version of a row of config.databases. A database that was dropped
// and created again has another UUID; each new primary increases LastMod. Zero when not known.
type DatabaseVersion struct {
	UUID    [16]byte
	LastMod int64
}

// ZoneRange is a row of config.tags. Keys are complete (prefixes extended with MinKey) when the collection is sharded;
// otherwise Min/Max are zero and the Raw documents are all there is.
type ZoneRange struct {
	NS             Namespace
	Zone           string
	Min, Max       shardkey.Key
	RawMin, RawMax bson.Raw
}

// Router is a row of config.mongos.
type Router struct {
	Host    string
	Version string
	Ping    time.Time
}

// Event is a row of config.changelog.
type Event struct {
	ID      string
	Time    time.Time // by the writer's clock, or, if that is off, by the order of insertion (CorrectTimes)
	Written time.Time `json:",omitzero"` // by the writer's clock, where that is off; else zero
	What    string    // as the server writes it: moveChunk.commit, split, …
	NS      string
	Shard   string // who wrote it
	Details bson.Raw
}

// Figure is a number that may be unknown or estimated.
type Figure struct {
	Known     bool
	Value     int64
	Exact     bool
	PlusMinus int64  // 0 = no interval known
	Method    string // catalogue code: "collStats", "dbStats", "shardedDataDistribution", "chunkShare", "routing", …
	At        time.Time
	Reason    string // catalogue code when !Known: "notLoaded", "notPermitted", "unreachable", "unsharded", …
}

// Size is one collection on one shard.
type Size struct {
	Bytes     Figure // BSON bytes; of what the shard owns where Orphans is known, else with orphans in it
	Documents Figure
	Orphans   Figure // documents
	Storage   Figure // bytes on disk
	Indexes   Figure // bytes on disk
}

// Sizes is what one statistics read said of a collection.
type Sizes struct {
	NS      Namespace
	Shards  map[string]Size // by shard name
	At      time.Time
	Reason  string // not empty: last read failed (code); Shards then holds the last good figures, possibly none
	Sharded bool
	Buckets bool // of a time series: Documents counts its buckets
}

// Part names one separately readable piece of the table; a failure degrades only its panel.
type Part string

// The parts, by what is read for them.
const (
	PartRouting   Part = "routing"
	PartShards    Part = "shards"
	PartDatabases Part = "databases"
	PartZones     Part = "zones"
	PartSettings  Part = "settings"
	PartRouters   Part = "routers"
	PartBalancer  Part = "balancer"
	PartEvents    Part = "events"
	PartSizes     Part = "sizes"
	// PartCollections is the list of collections that are not sharded.
	PartCollections Part = "collections"
	// PartDisks is how full the shards' disks are.
	PartDisks Part = "disks"
)

// Health tells when a part was last read well and what is wrong since.
type Health struct {
	At        time.Time // last good read; zero = never
	Err       error     // nil = the last read was good
	Denied    bool      // the cluster user may not read it
	Privilege string    // what to grant when Denied
	Product   string    // the product that refuses it to every user when Denied, such as MongoDB Atlas; "" for none
	Note      string    // the last read was good but left something out, and what
}

// ChangeKind says what happened to a range between two tables.
type ChangeKind string

// What can happen to a range or a collection.
const (
	Moved    ChangeKind = "moved"
	Split    ChangeKind = "split"
	Merged   ChangeKind = "merged"
	Created  ChangeKind = "created"  // collection
	Dropped  ChangeKind = "dropped"  // collection
	Reloaded ChangeKind = "reloaded" // new incarnation, refine, reshard
)

// Change is one difference between a table and its predecessor.
type Change struct {
	NS       Namespace
	Kind     ChangeKind
	Min, Max shardkey.Key
	From, To string // shards, for Moved
}
