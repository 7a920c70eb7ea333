package api

import (
	"encoding/json"
	"time"
)

// Collection is one collection (GET collections).
type Collection struct {
	NS                string          `json:"ns"`
	Sharded           bool            `json:"sharded"`
	System            bool            `json:"system"` // config.*, or a temporary collection of a resharding
	Key               json.RawMessage `json:"key"`    // shard key pattern; null when not sharded
	Unique            bool            `json:"unique"`
	UUID              string          `json:"uuid"`    // "" when the server gives none
	Version           *Version        `json:"version"` // highest chunk version
	Chunks            int             `json:"chunks"`
	Jumbo             int             `json:"jumbo"`
	NoBalance         bool            `json:"noBalance"`
	MigrationsBlocked bool            `json:"migrationsBlocked"`
	Resharding        bool            `json:"resharding"`
	Unsplittable      bool            `json:"unsplittable"`
	Primary           string          `json:"primary"` // of its database
	Bytes             Figure          `json:"bytes"`
	Documents         Figure          `json:"documents"`
	Shards            []ShardPart     `json:"shards"`
	Zones             []string        `json:"zones"`
}

// ShardPart is a collection's part on one shard.
type ShardPart struct {
	Shard     string `json:"shard"`
	Chunks    int    `json:"chunks"`
	Bytes     Figure `json:"bytes"`
	Documents Figure `json:"documents"`
}

// ShardOrphans is a collection's orphaned documents on one shard.
type ShardOrphans struct {
	Shard string `json:"shard"`
	Orphans
}

// CollectionDetail is one collection alone (GET collections/{ns}).
type CollectionDetail struct {
	Collection
	ZoneRanges []ZoneRange    `json:"zoneRanges"`
	Moving     []InFlight     `json:"moving"`         // migrations of it under way
	Orphans    Orphans        `json:"orphans"`        // on all shards together
	ByShard    []ShardOrphans `json:"orphansByShard"` // sharded collections only
	Freshness
}

// Version is a chunk version (lastmod): major grows with a move, minor with a split.
type Version struct {
	Major uint32 `json:"major"`
	Minor uint32 `json:"minor"`
}

// Chunk is one chunk: [min, max) of the shard key.
type Chunk struct {
	Ref       string     `json:"ref"` // uuid.base64url(BSON of min)
	Min       Key        `json:"min"`
	Max       Key        `json:"max"`
	Shard     string     `json:"shard"`
	Version   Version    `json:"version"`
	Since     *time.Time `json:"since"` // on this shard; null when the server does not say
	Jumbo     bool       `json:"jumbo"`
	Zone      string     `json:"zone"`               // "" = none
	Straddles bool       `json:"straddles"`          // a zone's edge lies inside the chunk
	MovingTo  string     `json:"movingTo,omitempty"` // a migration copies it, or a part of it, to this shard now

	Documents       Figure   `json:"documents"`
	Bytes           Figure   `json:"bytes"`
	Measured        bool     `json:"measured"`        // with dataSize; else estimated from the shard's counts
	Oversized       *bool    `json:"oversized"`       // has more documents than its shard moves at once; null when not known
	WritesPerSecond *float64 `json:"writesPerSecond"` // of the last 5 minutes; null when not counted
}

// Tile is one piece of a collection's chunk map (GET collections/{ns}/map).
// The chunks, in key order, are cut into 2^level tiles of equal count; tile
// index has the positions [from, to). Positions and not key widths are the
// scale, because a shard key of several types has no metric.
type Tile struct {
	NS    string    `json:"ns"`
	Level int       `json:"level"`
	Index int       `json:"index"`
	Total int       `json:"total"` // chunks in the collection
	From  int       `json:"from"`
	To    int       `json:"to"`
	Runs  []TileRun `json:"runs"`
	Freshness
}

// TileRun is a stretch of neighbouring chunks. Where a tile has more stretches
// than fit, a run holds several shards: Shard is then the one with most
// chunks and Shards has the counts of all.
type TileRun struct {
	From   int            `json:"from"`
	Chunks int            `json:"chunks"`
	Shard  string         `json:"shard"`
	Shards map[string]int `json:"shards,omitempty"`
	Jumbo  int            `json:"jumbo"`
	Min    Key            `json:"min"`
	Max    Key            `json:"max"`
}

// Zone is a zone with its shards and ranges (GET zones).
type Zone struct {
	Zone   string      `json:"zone"`
	Shards []string    `json:"shards"` // none: no chunk can be placed by it
	Ranges []ZoneRange `json:"ranges"`
	PinTerms
}

// ZoneRange is one range of a zone. Chunks, Outside and Straddling are null
// where the collection is not sharded (yet).
type ZoneRange struct {
	Zone       string `json:"zone"`
	NS         string `json:"ns"`
	Min        Key    `json:"min"`
	Max        Key    `json:"max"`
	Chunks     *int   `json:"chunks"`     // chunks that meet the range
	Outside    *int   `json:"outside"`    // of those, on a shard without the zone
	Straddling *int   `json:"straddling"` // of those, cut by an edge of the range
}

// Event is one row of the cluster's changelog (GET activity).
type Event struct {
	ID      string          `json:"id"`
	Time    time.Time       `json:"time"`
	What    string          `json:"what"` // as the server writes it: moveChunk.commit, split, …
	NS      string          `json:"ns"`
	Shard   string          `json:"shard"`
	Details json.RawMessage `json:"details"`
	Failed  bool            `json:"failed,omitempty"` // it tells of a move that failed; one to where the chunk is is none
	FailureReason
}
