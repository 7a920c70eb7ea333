package api

import (
	"time"
)

// Why is the chain from a value to the machines that hold it, as data and, in Steps, as sentences
// that follow from each other.
type Why struct {
	Basis   string     `json:"basis"`  // key, prefix, every, primary, tracked, absent, unknown
	Fields  []WhyField `json:"fields"` // of the shard key
	Chunk   *WhyChunk  `json:"chunk"`  // null unless there is exactly one
	Shards  []WhyShard `json:"shards"`
	History WhyHistory `json:"history"`
	Zone    *WhyZone   `json:"zone"`    // null when not sharded or several chunks are meant
	Primary string     `json:"primary"` // the database's primary shard; "" when not known
	Steps   []WhyStep  `json:"steps"`
}

// WhyField is one field of the shard key. Value is as stored, before hashing; null if unknown.
type WhyField struct {
	Name   string  `json:"name"`
	Hashed bool    `json:"hashed"`
	Value  Key     `json:"value"`
	Hash   *string `json:"hash"` // signed 64-bit decimal
}

// WhyChunk is the chunk that holds the key.
type WhyChunk struct {
	Ref     string     `json:"ref"`
	Number  int        `json:"number"` // in key order, from 1
	Of      int        `json:"of"`
	Min     Key        `json:"min"`
	Max     Key        `json:"max"`
	Shard   string     `json:"shard"`
	Version Version    `json:"version"`
	Since   *time.Time `json:"since"` // on this shard; null when the server does not say
	Jumbo   bool       `json:"jumbo"`
}

// WhyShard is a shard and its machines. Primary is null unless requested (prove=1), or if the
// mongos does not report it.
type WhyShard struct {
	Shard    string   `json:"shard"`
	ReplSet  string   `json:"replSet"`
	Hosts    []string `json:"hosts"`
	Primary  *string  `json:"primary"`
	Draining bool     `json:"draining"`
}

// WhyHistory is what the changelog shows: found, before (the cause is older than its oldest entry)
// or unread.
type WhyHistory struct {
	State string     `json:"state"`
	Moved *WhyCause  `json:"moved"` // the last move here
	Cut   *WhyCause  `json:"cut"`   // the last split or merge
	Held  *time.Time `json:"held"`  // time of the oldest entry
}

// WhyCause is one changelog entry.
type WhyCause struct {
	What string     `json:"what"`
	At   *time.Time `json:"at"`
	From string     `json:"from"`
	To   string     `json:"to"`
}

// WhyZone is the chunk's relation to the zones: none, outside, kept, wrong, straddles or unread.
type WhyZone struct {
	State  string   `json:"state"`
	Zone   string   `json:"zone"`
	Min    Key      `json:"min"`
	Max    Key      `json:"max"`
	Shards []string `json:"shards"`
}

// WhyStep is one link of the chain.
type WhyStep struct {
	Step string   `json:"step"` // rule, key, hash, chunk, shard, since, history, zone
	Text Sentence `json:"text"`
}

// Proof compares the mongos's own answer with the table's. State: agrees, caughtUp (they differed,
// and agree after the table was read again), differs, failed, skipped.
type Proof struct {
	State  string     `json:"state"`
	Ours   []string   `json:"ours"`
	Theirs []string   `json:"theirs"`
	Newer  string     `json:"newer"`  // table, router, or "" if neither is known to be newer
	Reread bool       `json:"reread"` // the table was read again
	Seq    uint64     `json:"seq"`    // of the table compared at the end
	Read   *time.Time `json:"read"`   // when that table was last read
	At     *time.Time `json:"at"`
	Text   string     `json:"text"`
}

// ChunkWhy is why one chunk is where it is, and what the balancer will do with it (GET
// collections/{ns}/chunks/{ref}/why).
type ChunkWhy struct {
	NS       string     `json:"ns"`
	Chunk    WhyChunk   `json:"chunk"`
	Why      Why        `json:"why"`
	Balance  WhyBalance `json:"balance"`
	Sentence string     `json:"sentence"`
	Dangers  []Danger   `json:"dangers"` // moves that would fail, according to the check for duplicate ids
	Moving   []InFlight `json:"moving"`  // running migrations of the chunk or a part of it
	Size     *ChunkSize `json:"size"`    // only in the chunk's own answer; null in a project's
	Freshness
}

// Danger is a shard to which the chunk cannot be moved, because it already has some of the chunk's
// ids.
type Danger struct {
	Shard string   `json:"shard"`
	IDs   []string `json:"ids"` // hex
}

// WhyBalance is every balancer rule of the server's release with its verdict. Decision: moves (in
// the next round), waits (due, in a later one), stays, or unknown.
type WhyBalance struct {
	Release  string    `json:"release"`
	Decision string    `json:"decision"`
	Due      string    `json:"due"` // draining, zone, imbalance; "" if there is no reason to move
	To       string    `json:"to"`  // of the next round's move
	Rules    []WhyRule `json:"rules"`
	Text     Sentence  `json:"text"`
}

// WhyRule is one rule's verdict: pass, asks, blocks, waits or unknown.
type WhyRule struct {
	Rule    string            `json:"rule"`
	Verdict string            `json:"verdict"`
	Code    string            `json:"code"`
	Args    map[string]string `json:"args,omitempty"`
	Text    Sentence          `json:"text"`
}

// ProjectWhy is why a project's chunks are where they are and whether they will move (GET
// projects/{id}/why).
type ProjectWhy struct {
	Project     string          `json:"project"`
	Name        string          `json:"name"`
	Collections []CollectionWhy `json:"collections"`
	Freshness
}

// CollectionWhy is one collection of a project. Chunks has at most the first 20 of the project's
// chunks; Of is their number.
type CollectionWhy struct {
	NS     string     `json:"ns"`
	Basis  string     `json:"basis"` // keyPrefix, byDocument, otherKey, primary, tracked, unknown
	Text   string     `json:"text"`  // what decides the placement
	Of     int        `json:"of"`
	Chunks []ChunkWhy `json:"chunks"`
}
