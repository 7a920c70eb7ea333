package api

import (
	"time"

	"shardboard/internal/message"
)

// Shard is one shard (GET shards).
type Shard struct {
	Name        string     `json:"name"`
	ReplSet     string     `json:"replSet"`
	Hosts       []string   `json:"hosts"`
	Draining    bool       `json:"draining"`
	Zones       []string   `json:"zones"`
	ZonesShown  []ZoneName `json:"-"`
	Collections int        `json:"collections"` // sharded collections with a chunk here
	Chunks      int        `json:"chunks"`
	Bytes       Figure     `json:"bytes"`
	Documents   Figure     `json:"documents"`
	Disk        Disk       `json:"disk"`
	Answering   Answering  `json:"answering"`
}

// Disk is the file system with the data of a shard's primary, in bytes, including other files on
// it.
type Disk struct {
	Used  Figure `json:"used"`
	Total Figure `json:"total"`

	Share float64 `json:"-"` // the used part, 0 to 1; negative if unknown
	Full  bool    `json:"-"` // it needs a person
	Old   bool    `json:"-"` // later reads failed
	Why   string  `json:"-"` // what to grant, if reading is not permitted
}

// ShardDetail is a shard with a page of its content (GET shards/{name}): contents, projects and byDocument have at most
// as many rows as asked for.
type ShardDetail struct {
	Shard
	Orphans    Orphans           `json:"orphans"` // of all sharded collections on it
	Contents   []ShardCollection `json:"contents"`
	Projects   []ShardProject    `json:"projects"`
	ByDocument []ShardCollection `json:"byDocument"` // placed per Yorkie document: they concern every project
	Next       Cursor            `json:"next"`       // null when none of the three has more
	Drain      *Drain            `json:"drain"`      // what is left on it; null while it does not drain
	Moving     []InFlight        `json:"moving"`     // running migrations from or to it
	Deletions  DeletionWait      `json:"deletions"`  // what holds up deletions of old documents on it
	Writes     MatrixRate        `json:"writes"`     // counted rows per second in the time of window
	WriteShare *float64          `json:"writeShare"` // of all counted rows, 0 to 1
	Window     string            `json:"window"`     // a Go duration
	Operations ShardOperations   `json:"operations"`
	// internal collections left out of contents; ?internal=1 includes them. Sums never include them
	Hidden int `json:"hidden"`
	Freshness

	State         State           `json:"-"`
	Outage        message.Message `json:"-"` // who is affected if it goes down
	All           []Shard         `json:"-"` // every shard, to compare with
	PrimaryOf     []string        `json:"-"` // databases
	ProjectsState State           `json:"-"`
	ProjectCounts `json:"-"`
}

// ShardOperations are the reads and writes of a shard for all sharded collections together, of all programs, between
// two reads of its primary's counters. Servers count by collection: which project reads is not known.
type ShardOperations struct {
	ReadsPerSecond  *float64   `json:"readsPerSecond"` // null: not known, such as after an election
	ReadMillis      *float64   `json:"readMillis"`     // mean time; null without reads
	WritesPerSecond *float64   `json:"writesPerSecond"`
	WriteMillis     *float64   `json:"writeMillis"`
	MostRead        string     `json:"mostRead"`  // the collection that has most of the reads; "" without reads
	ReadShare       *float64   `json:"readShare"` // its part of the reads
	From            *time.Time `json:"from"`
	To              *time.Time `json:"to"`
}

// ShardCollection is one collection's part on one shard.
type ShardCollection struct {
	NS        string   `json:"ns"`
	Sharded   bool     `json:"sharded"`
	Chunks    int      `json:"chunks"`
	Of        int      `json:"of"` // chunks of the collection on all shards
	Bytes     Figure   `json:"bytes"`
	Documents Figure   `json:"documents"`
	Counts    string   `json:"counts"`   // what documents counts: documents, or buckets of a time series
	Share     *float64 `json:"share"`    // of the chunks, 0 to 1
	RowShare  *float64 `json:"rowShare"` // of the documents, 0 to 1; null where they are not known on each shard

	ByteShare *float64 `json:"-"` // of the bytes, 0 to 1
	Key       string   `json:"-"` // shard key
}

// ShardProject is a project with data on a shard, from the collections whose shard key begins with
// the project.
type ShardProject struct {
	ID          string             `json:"id"`
	Name        string             `json:"name"`
	DB          string             `json:"db"`
	Share       *float64           `json:"share"` // of chunks: mean over its collections, 0 to 1
	RowShare    RowShare           `json:"rowShare"`
	Whole       bool               `json:"whole"` // all of the project's data in these collections is here
	Collections []ShardProjectPart `json:"collections"`

	Title     string `json:"-"` // its name, or its id if it has none
	Documents Figure `json:"-"`
}

// RowShare is the part of a project's own rows on a shard, 0 to 1: between low and high, which are
// equal if it is known exactly. Both are null if unknown, with the reason.
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
	Chunks int    `json:"chunks"` // chunks here that may contain rows of the project
	Of     int    `json:"of"`     // the same on all shards
}
