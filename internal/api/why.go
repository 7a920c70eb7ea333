package api

import "time"

// Why is the chain from a value to the machines that hold it, as data and, in
// Steps, as sentences in the order in which one follows from the other.
type Why struct {
	Basis   string     `json:"basis"`  // key, prefix, every, primary, tracked, absent, unknown
	Fields  []WhyField `json:"fields"` // of the shard key
	Chunk   *WhyChunk  `json:"chunk"`  // null when there is not exactly one
	Shards  []WhyShard `json:"shards"`
	History WhyHistory `json:"history"`
	Zone    *WhyZone   `json:"zone"`    // null when not sharded or several chunks are meant
	Primary string     `json:"primary"` // the database's primary shard; "" when not known
	Steps   []WhyStep  `json:"steps"`
}

// WhyField is one field of the shard key. Value is as stored, before hashing;
// null when not known.
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

// WhyShard is a shard and its machines. Primary is null when nobody asked for
// it (prove=1 does) or the mongos does not tell.
type WhyShard struct {
	Shard    string   `json:"shard"`
	ReplSet  string   `json:"replSet"`
	Hosts    []string `json:"hosts"`
	Primary  *string  `json:"primary"`
	Draining bool     `json:"draining"`
}

// WhyHistory is what the changelog held says: found, before (whatever it was,
// it was before the oldest entry held) or unread.
type WhyHistory struct {
	State string     `json:"state"`
	Moved *WhyCause  `json:"moved"` // the last move here
	Cut   *WhyCause  `json:"cut"`   // the last split or merge
	Held  *time.Time `json:"held"`  // of the oldest entry held
}

// WhyCause is one changelog entry.
type WhyCause struct {
	What string     `json:"what"`
	At   *time.Time `json:"at"`
	From string     `json:"from"`
	To   string     `json:"to"`
}

// WhyZone is how the chunk stands to the zones: none, outside, kept, wrong,
// straddles or unread.
type WhyZone struct {
	State  string   `json:"state"`
	Zone   string   `json:"zone"`
	Min    Key      `json:"min"`
	Max    Key      `json:"max"`
	Shards []string `json:"shards"`
}

// WhyStep is one link of the chain.
type WhyStep struct {
	Step string `json:"step"` // key, hash, chunk, shard, moved, cut, zone, primary, …
	Text string `json:"text"`
}

// Proof is the mongos's own answer beside the table's. State: agrees, caughtUp
// (they differed and agree since the table was read again), differs, failed,
// skipped.
type Proof struct {
	State  string     `json:"state"`
	Ours   []string   `json:"ours"`
	Theirs []string   `json:"theirs"`
	Newer  string     `json:"newer"`  // table, router, or "" where neither can be told to be
	Reread bool       `json:"reread"` // the table was read again
	Seq    uint64     `json:"seq"`    // of the table compared at the end
	Read   *time.Time `json:"read"`   // when that table was last read
	At     *time.Time `json:"at"`
	Text   string     `json:"text"`
}

// ChunkWhy is why one chunk is where it is and what the balancer makes of it
// (GET collections/{ns}/chunks/{ref}/why).
type ChunkWhy struct {
	NS       string     `json:"ns"`
	Chunk    WhyChunk   `json:"chunk"`
	Why      Why        `json:"why"`
	Balance  WhyBalance `json:"balance"`
	Sentence string     `json:"sentence"`
	Dangers  []Danger   `json:"dangers"` // moves that would fail, as far as the check for duplicate ids knows
	Moving   []InFlight `json:"moving"`  // migrations under way of the chunk or a part of it
	Size     *ChunkSize `json:"size"`    // of the chunk's own answer; null in a project's
	Freshness
}

// Danger is a shard to which the chunk cannot be moved: it has ids of the
// chunk's rows already.
type Danger struct {
	Shard string   `json:"shard"`
	IDs   []string `json:"ids"` // hex
}

// WhyBalance is every balancer rule of the server's release with its verdict.
// Decision: moves (in the next round), waits (due, in a later one), stays, or
// unknown.
type WhyBalance struct {
	Release  string    `json:"release"`
	Decision string    `json:"decision"`
	Due      string    `json:"due"` // draining, zone, imbalance; "" when nothing asks
	To       string    `json:"to"`  // of the next round's move
	Rules    []WhyRule `json:"rules"`
	Text     string    `json:"text"`
}

// WhyRule is one rule's verdict: pass, asks, blocks, waits or unknown.
type WhyRule struct {
	Rule    string            `json:"rule"`
	Verdict string            `json:"verdict"`
	Code    string            `json:"code"`
	Args    map[string]string `json:"args,omitempty"`
	Text    string            `json:"text"`
}

// ProjectWhy is why one project's own chunks are where they are and do or do
// not move (GET projects/{id}/why).
type ProjectWhy struct {
	Project     string          `json:"project"`
	Name        string          `json:"name"`
	Collections []CollectionWhy `json:"collections"`
	Freshness
}

// CollectionWhy is one collection of a project. Chunks has at most the first
// 20 of the project's chunks; Of is how many there are.
type CollectionWhy struct {
	NS     string     `json:"ns"`
	Basis  string     `json:"basis"` // keyPrefix, byDocument, primary, unknown
	Text   string     `json:"text"`  // what decides the place
	Of     int        `json:"of"`
	Chunks []ChunkWhy `json:"chunks"`
}
