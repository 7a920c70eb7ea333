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
	Exact  bool     `json:"exact"` // false: these shards may contain it
}

// ProjectDetail is a project with all collections of its profile (GET projects/{id}).
type ProjectDetail struct {
	Project
	Collections []ProjectCollection `json:"collections"`
	Moving      []InFlight          `json:"moving"` // running migrations of its ranges
	PinTerms                        // terms of its pin, if pinned
	Freshness
}

// PinTerms is owner and expiry of a pin, from the plan that made it. Without owner the pin is
// unknown here (made by hand or by another shardboard) or does not exist; "" is a plan without an
// owner. A pin with an owner and without expiry does not expire.
type PinTerms struct {
	Expires *time.Time `json:"expires,omitempty"`
	Owner   *string    `json:"owner,omitempty"`

	Pinned bool `json:"-"` // there is a pin, perhaps without known terms
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

// ProjectShardPart is a shard part with the project's share on it, null if unknown.
type ProjectShardPart struct {
	ShardPart
	Share *float64 `json:"share"`
}

// Verdict is whether something is possible, with a code and arguments if not.
type Verdict struct {
	Can  bool              `json:"can"`
	Code string            `json:"code"`
	Args map[string]string `json:"args,omitempty"`
}
