package collections

import (
	"shardboard/web/templates"
)

// Collections is the matrix of collections and shards.
type Collections struct {
	State     templates.State
	Summary   string
	Shards    []templates.ShardRef
	Rows      []CollectionRow
	Unsharded []UnshardedRow
	Why       templates.State // why the unsharded ones are not listed
	Internal  []CollectionRow // the server's own, where they are shown
	Folded    *templates.Folded
	LiveURL   string
}

// CollectionRow is one line of the matrix.
type CollectionRow struct {
	NS, DB, Name, URL string
	Key               string
	Flags             []templates.Flag
	Chunks            templates.Figure
	Bytes             templates.Figure
	Documents         templates.Figure
	Cells             []MatrixCell // in the order of Shards
}

// MatrixCell is one collection on one shard.
type MatrixCell struct {
	Shard     templates.ShardRef
	Empty     bool // no chunk there
	Bytes     templates.Figure
	Documents templates.Figure
	Chunks    string
	Bar       float64
	Share     string
	Title     string
}

// UnshardedRow is a collection that is wholly on its database's primary shard.
type UnshardedRow struct {
	NS        string
	Shard     templates.ShardRef
	Bytes     templates.Figure
	Documents templates.Figure
}

// Collection is one collection's key space and its chunks.
type Collection struct {
	State        templates.State
	LiveURL      string
	NS, DB, Name string
	URL          string
	Key          string
	Flags        []templates.Flag
	Facts        []templates.Fact
	Strip        templates.Strip
	Lanes        []Lane
	Total, Bytes templates.Figure // over all lanes
	Zoned        bool             // has zone ranges
	Heat         templates.HeatLine
	Failed       templates.FailedMoves
	Filter       ChunkFilter
	Chunks       []templates.ChunkRow
	Pager        templates.Pager
	Acts         templates.Acts
	Moving       templates.InFlight

	Heated   bool              // the table has a column for writes
	Measured string            // how much of the list was measured
	SortURLs map[string]string // of the columns' heads
}

// Lane is one shard's line below the strip.
type Lane struct {
	Shard  templates.ShardRef
	D      string // path data, LaneHeight high
	Chunks templates.Cell
	Bytes  templates.Figure
}

// ChunkFilter is the form above the chunk table.
type ChunkFilter struct {
	ByBound bool // false: bounds are hidden
	Text    string
	At      string // key position
	Jumbo   bool
	Shards  []templates.Option

	Oversized bool
	Sort      []templates.Option
	Zones     []templates.Option
	Active    bool
	Problem   string
}

// sortedBy tells whether an order is the one chosen.
func (f ChunkFilter) sortedBy(by string) bool {
	for _, o := range f.Sort {
		if o.Value == by {
			return o.Selected
		}
	}
	return false
}
