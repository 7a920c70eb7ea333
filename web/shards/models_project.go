package shards

import (
	"shardboard/web/templates"
)

// Shard is one shard's page.
type Shard struct {
	State       templates.State
	LiveURL     string
	Failed      templates.FailedMoves
	Folded      *templates.Folded // of the list of collections
	Shard       templates.ShardRef
	ReplSet     string
	Hosts       []string
	Zones       []string
	Draining    bool
	Answer      string // who is hit when it is sick
	Measures    []templates.Measure
	Facts       []templates.Fact
	Collections []ShardCollectionRow
	Unsharded   string
	Projects    []ShardProjectRow
	ProjectsWhy templates.State
	More        int // projects not listed
	CSV         string
	// DocumentsHead is what the profile calls its documents.
	DocumentsHead string
	Moving        templates.InFlight
}

// ShardCollectionRow is one collection's part on a shard.
type ShardCollectionRow struct {
	NS, URL   string
	Key       string
	Chunks    templates.Cell
	Bytes     templates.Cell
	Documents templates.Cell
}

// ShardProjectRow is one project that has rows on a shard.
type ShardProjectRow struct {
	Name, URL string
	Whole     []string         // collections wholly there
	Part      []string         // collections partly there
	Rows      templates.Figure // share of its own rows
	Documents templates.Figure
}
