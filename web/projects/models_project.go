package projects

import (
	"shardboard/web/templates"
)

// Projects is the list of tenants.
type Projects struct {
	State    templates.State
	LiveURL  string
	Query    string
	Summary  string
	DBColumn bool // more than one database holds projects
	Counted  bool // the profile has a count of documents
	Clients  bool // and of clients
	// DocumentsHead is what the profile calls its documents.
	DocumentsHead string
	Columns       []string // collections placed by project
	ByDoc         string   // sentence on the collections placed by document
	ByDocOn       []templates.ShardRef
	Rows          []ProjectRow
	Pager         templates.Pager
	EmptyWhy      string
}

// ProjectRow is one tenant.
type ProjectRow struct {
	ID, URL, Name, DB string
	Documents         templates.Figure
	Clients           templates.Figure
	Created           templates.Moment
	Cells             []SpreadCell
}

// SpreadCell is one collection's shards for one project.
type SpreadCell struct {
	Name   string
	Shards []templates.ShardRef
	Word   string // instead of shards: absent, unknown
	Chunks string
}

// Project is one tenant's page.
type Project struct {
	ID, Name, PublicKey, DB string
	Layout                  string
	Created                 templates.Moment
	Facts                   []templates.Fact
	Answer                  string         // where is it, in one sentence
	Pin                     *templates.Pin // nil: it is not pinned
	Failed                  templates.FailedMoves
	Shards                  []templates.ShardRef
	Rows                    []SpreadRow
	Verdicts                []VerdictGroup
	Why                     templates.WhyProject
	Watch                   string             // the item as it is watched
	Moving                  templates.InFlight // of its own ranges
}

// VerdictGroup is collections of which the same can be said.
type VerdictGroup struct {
	Names      string
	Pin, Split Verdict
}

// SpreadRow is one collection of a project.
type SpreadRow struct {
	NS, Name, URL string
	What          string
	Key           string // shard key, or the words for unsharded
	Absent        string // words when the collection is not there
	Exact         bool
	Certainty     string // exact or estimate, in words
	Basis         string
	Marks         []SpreadMark // in the order of Shards
	Chunks        []templates.ChunkRow
	ChunkCount    int
	ChunkWords    string
}

// SpreadMark is one shard's cell of the picture.
type SpreadMark struct {
	Shard templates.ShardRef
	Holds bool
	Sure  bool // holds, not "may hold"
	Text  string
	Title string
}

// Verdict is whether something can be done and the sentence why.
type Verdict struct {
	Can  bool
	Word string
	Why  string
}
