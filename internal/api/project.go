package api

import (
	"time"

	"shardboard/internal/message"
)

// Project is one project (GET projects).
type Project struct {
	ID        string          `json:"id"`
	DB        string          `json:"db"`
	Name      string          `json:"name"`
	StoredID  string          `json:"storedId,omitempty"` // the id in the database, where it is no ObjectID; id then stands for it
	PublicKey string          `json:"publicKey"`
	CreatedAt *time.Time      `json:"createdAt"`
	Documents Figure          `json:"documents"` // Yorkie documents, as Yorkie counts them
	Clients   Figure          `json:"clients"`
	Bytes     MatrixFigure    `json:"bytes"`  // uncompressed, of all its rows that are known of; estimated from samples
	Writes    MatrixRate      `json:"writes"` // counted rows per second, of the time that ?window= chooses
	Shards    []string        `json:"shards"` // those of the collections that are placed by project
	Marks     []string        `json:"marks"`  // hot, pinned, oversized (has a chunk that was too large to move)
	Spread    []ProjectSpread `json:"spread" csv:"rows"`

	Label string `json:"-"` // Name, or ID if it has none
}

// Projects is a part of the list of projects (GET projects). In JSON it is a List.
type Projects struct {
	List[Project]
	From  int // position of the first item among those found, from 0
	Found int // projects that match the search
	Total int // all projects

	State  State // why there are none, or none of now
	Unread bool  // there is no list yet, or it may not be read any more: pages show State alone

	Databases    []string // those with projects
	Columns      []string // collections whose shard key begins with the project
	ByDocument   []string // collections whose shard key does not begin with the project: the same for every project
	ByDocumentOn []string // shards of ByDocument
	ProjectCounts
}

// ProjectCounts is what the rows of projects count by the profile, for pages only.
type ProjectCounts struct {
	DocumentsName string // what the profile calls documents
	HasDocuments  bool   // they are counted
	HasClients    bool   // and clients
}

// ProjectSpread is where one collection's part of a project is, in short.
type ProjectSpread struct {
	NS     string   `json:"ns"`
	Shards []string `json:"shards"`
	Exact  bool     `json:"exact"` // false: these shards may contain it

	Presence   string `json:"-"` // exists, absent, unknown
	ChunkCount int    `json:"-"`
}

// ProjectDetail is a project with all collections of its profile (GET projects/{id}).
type ProjectDetail struct {
	Project
	Collections []ProjectCollection `json:"collections"`
	Moving      []InFlight          `json:"moving"` // running migrations of its ranges
	PinTerms                        // terms of its pin, if pinned
	Window      string              `json:"window"` // that writes are of, a Go duration
	Freshness

	// For pages only.
	WritesText    message.Message `json:"-"` // its writes, and which shards take them
	Answer        string          `json:"-"` // where it is, in one to three sentences
	Layout        string          `json:"-"` // nearest layout of the profile
	PinnedTo      []string        `json:"-"` // shards of its pin
	ProjectCounts `json:"-"`
	Verdicts      []ProjectVerdict `json:"-"`
}

// ProjectVerdict is what can be done with collections of a project, and why.
type ProjectVerdict struct {
	Collections []string
	Pin, Split  Verdict
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
	Basis      string             `json:"basis"` // keyPrefix, byDocument, otherKey, primary, tracked, unknown
	ChunkCount int                `json:"chunkCount"`
	Shards     []ProjectShardPart `json:"shards"`
	Chunks     []Chunk            `json:"chunks"` // the first 100
	Pin        Verdict            `json:"pin"`
	Split      Verdict            `json:"split"`

	WhatText  string `json:"-"` // What in words
	BasisText string `json:"-"` // Basis in words
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

	Why string `json:"-"` // Code in words
}

// ProjectSize is what a survey found of one project in one collection, or what is estimated all the
// time. The page of a project shows it; scripts read the surveys, and the figures of the project.
type ProjectSize struct {
	NS      string
	Survey  string // id of the survey; "": estimated without one
	Method  string // sample or counted
	At      *time.Time
	Problem string      // why the collection was not measured
	Line    *SurveyLine // its rows, or the most there can be if none was seen; nil: not measured

	DeadLabel, DeadText string // what the unused rows are and why they are there
}
