package api

import "time"

// Project is one project (GET projects).
type Project struct {
	ID        string          `json:"id"`
	DB        string          `json:"db"`
	Name      string          `json:"name"`
	PublicKey string          `json:"publicKey"`
	CreatedAt *time.Time      `json:"createdAt"`
	Documents Figure          `json:"documents"` // Yorkie documents, as Yorkie counts them
	Clients   Figure          `json:"clients"`
	Spread    []ProjectSpread `json:"spread"`
}

// ProjectSpread is where one collection's part of a project is, in short.
type ProjectSpread struct {
	NS     string   `json:"ns"`
	Shards []string `json:"shards"`
	Exact  bool     `json:"exact"` // false: these shards may hold it, not all must
}

// ProjectDetail is a project with every collection of its profile
// (GET projects/{id}).
type ProjectDetail struct {
	Project
	Collections []ProjectCollection `json:"collections"`
	Moving      []InFlight          `json:"moving"` // migrations under way of its own ranges
	PinTerms                        // of its pin, if it is pinned
	Freshness
}

// PinTerms is what the plan that made a pin said of it. Without owner nothing is
// known of the pin here (made by hand or by another shardboard), or it is none;
// "" is a plan that named nobody, and a pin with an owner that has no expiry does
// not expire.
type PinTerms struct {
	Expires *time.Time `json:"expires,omitempty"`
	Owner   *string    `json:"owner,omitempty"`
}

// ProjectCollection is the spread of a project over one collection.
type ProjectCollection struct {
	NS         string             `json:"ns"`
	Scope      string             `json:"scope"` // project, document, cluster
	What       string             `json:"what"`
	Sharded    bool               `json:"sharded"`
	Presence   string             `json:"presence"` // exists, absent, unknown
	Key        string             `json:"key"`      // shard key pattern for people
	Exact      bool               `json:"exact"`
	Basis      string             `json:"basis"` // keyPrefix, byDocument, primary, …
	ChunkCount int                `json:"chunkCount"`
	Shards     []ProjectShardPart `json:"shards"`
	Chunks     []Chunk            `json:"chunks"` // the first 100
	Pin        Verdict            `json:"pin"`
	Split      Verdict            `json:"split"`
}

// ProjectShardPart is a shard part with the share of the project on it, null
// when not known.
type ProjectShardPart struct {
	ShardPart
	Share *float64 `json:"share"`
}

// Verdict says whether something can be done and, as a code with arguments, why not.
type Verdict struct {
	Can  bool              `json:"can"`
	Code string            `json:"code"`
	Args map[string]string `json:"args,omitempty"`
}
