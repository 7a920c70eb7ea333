package heat

import (
	"shardboard/web/templates"
)

// Heat is where the writes of one collection go.
type Heat struct {
	State         templates.State   // instead of everything else
	Notes         []templates.State // beside it
	NS, Name      string
	Collections   []HeatGroup // that are counted
	Uncounted     []HeatUncounted
	UncountedText string // how many
	Folded        *templates.Folded
	Windows       []HeatLink
	Lead          string
	Measured      string
	Counts        string // newRows, or changedRows: at least so many, of few projects
	Chunks        []templates.HeatChunk
	Projects      []HeatRow
	Documents     []HeatRow
	NoDocuments   bool // they are not counted here
	Shards        []HeatShard
	Skew          []templates.Fact
	SkewText      string
	Growing       templates.State // a warning with its evidence; zero: none
	GrowingText   string          // when there is no warning
	Map           HeatMap
}

// HeatGroup is the collections that are counted in one way.
type HeatGroup struct {
	Name, Title string
	Links       []HeatLink
}

// HeatUncounted is a collection that is not counted.
type HeatUncounted struct{ NS, Why string }

// HeatLink is one choice of a row of them.
type HeatLink struct {
	Text, URL string
	Current   bool
}

// HeatRow is a project or a Yorkie document.
type HeatRow struct {
	Key, Name, URL string
	Mono           bool
	Of             string // documents: the project
	OfURL          string
	Shard          *templates.ShardRef
	Rate           templates.Cell
	How            string
}

// HeatShard is a shard's part.
type HeatShard struct {
	Shard          templates.ShardRef
	Rate           templates.Cell
	How            string
	Reads, Latency templates.Figure
	All            templates.Figure // writes by the shard's own counters
}

// HeatMap is the key visualizer: what its script needs, and the same as a table.
type HeatMap struct {
	State  templates.State
	NS, By string
	Window string
	From   string // how long ago it begins, as the API takes it
	Lead   string
	// Counts is how the collection is counted: newRows or changedRows.
	Counts      string
	CountedText string // what is not in it, by how it is counted
	Astray      string // what is in no row
	ByLinks,
	Spans []HeatLink
	Shards []templates.ShardRef
	Heads  []HeatHead // newest first
	Rows   []HeatCells
}

// HeatHead is a column's time.
type HeatHead struct{ Text, Title string }

// HeatCells is a row of the table.
type HeatCells struct {
	Key   string
	Name  templates.Key
	URL   string
	Shard *templates.ShardRef
	Cells []templates.Figure
}
