package api

import "time"

// Shard is one shard (GET shards).
type Shard struct {
	Name        string   `json:"name"`
	ReplSet     string   `json:"replSet"`
	Hosts       []string `json:"hosts"`
	Draining    bool     `json:"draining"`
	Zones       []string `json:"zones"`
	Collections int      `json:"collections"` // sharded ones with a chunk here
	Chunks      int      `json:"chunks"`
	Bytes       Figure   `json:"bytes"`
	Documents   Figure   `json:"documents"`
	Disk        Disk     `json:"disk"`
}

// Disk is the file system on which a shard's primary keeps its data, in bytes:
// all that is on it counts.
type Disk struct {
	Used  Figure `json:"used"`
	Total Figure `json:"total"`
}

// ShardDetail is a shard with what lives on it (GET shards/{name}).
type ShardDetail struct {
	Shard
	Orphans    Orphans           `json:"orphans"` // of all sharded collections on it
	Contents   []ShardCollection `json:"contents"`
	Projects   []ShardProject    `json:"projects"`
	ByDocument []ShardCollection `json:"byDocument"` // placed per Yorkie document: they concern every project
	Moving     []InFlight        `json:"moving"`     // migrations under way from it or to it
	Hidden     int               `json:"hidden"`     // internal collections left out of contents; ?internal=1 has them. Sums never have them
	Freshness
}

// ShardCollection is one collection's part on one shard.
type ShardCollection struct {
	NS        string   `json:"ns"`
	Sharded   bool     `json:"sharded"`
	Chunks    int      `json:"chunks"`
	Of        int      `json:"of"` // chunks of the collection on all shards
	Bytes     Figure   `json:"bytes"`
	Documents Figure   `json:"documents"`
	Share     *float64 `json:"share"`    // of the chunks, 0 to 1
	RowShare  *float64 `json:"rowShare"` // of the documents, 0 to 1; null where they are not known on each shard
}

// ShardProject is a project that has data on a shard, by the collections whose
// shard key begins with the project.
type ShardProject struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	DB          string             `json:"db"`
	Share       *float64           `json:"share"` // of chunks: mean over its collections, 0 to 1
	RowShare    RowShare           `json:"rowShare"`
	Whole       bool               `json:"whole"` // nothing of these collections is elsewhere
	Collections []ShardProjectPart `json:"collections"`
}

// RowShare is which part of a project's own rows is on a shard, 0 to 1: between
// low and high, which are equal where it is known. Both are null where nothing
// is known, and reason says why.
type RowShare struct {
	Low    *float64   `json:"low"`
	High   *float64   `json:"high"`
	Exact  bool       `json:"exact"`
	Method string     `json:"method,omitempty"`
	At     *time.Time `json:"at,omitempty"` // of the oldest count that it is made of
	Reason string     `json:"reason,omitempty"`
}

// ShardProjectPart is one collection of a project on a shard.
type ShardProjectPart struct {
	NS     string `json:"ns"`
	Chunks int    `json:"chunks"` // that can hold rows of the project, here
	Of     int    `json:"of"`     // and on all shards
}
