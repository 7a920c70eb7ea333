package templates

// Heat is where the writes of one collection go.
type Heat struct {
	State         State   // instead of everything else
	Notes         []State // beside it
	NS, Name      string
	Collections   []HeatGroup // that are counted
	Uncounted     []HeatUncounted
	UncountedText string // how many
	Folded        *Folded
	Windows       []HeatLink
	Lead          string
	Measured      string
	Counts        string // newRows, or changedRows: at least so many, of few projects
	Chunks        []HeatChunk
	Projects      []HeatRow
	Documents     []HeatRow
	NoDocuments   bool // they are not counted here
	Shards        []HeatShard
	Skew          []Fact
	SkewText      string
	Growing       State  // a warning with its evidence; zero: none
	GrowingText   string // when there is no warning
	Map           HeatMap
}

// HeatGroup is the collections that are counted in one way.
type HeatGroup struct {
	Name, Title string
	Links       []HeatLink
}

// HeatUncounted is a collection that is not counted.
type HeatUncounted struct{ NS, Why string }

// HeatLine is the load of one thing in a sentence that says its time, because
// it may stand on a page that is not drawn anew with every count.
type HeatLine struct{ Text, URL string }

// HeatLink is one choice of a row of them.
type HeatLink struct {
	Text, URL string
	Current   bool
}

// HeatChunk is a sentence about a hot chunk.
type HeatChunk struct {
	Key, Name, URL string
	Shard          ShardRef
	Takes          string // share of its shard, rate
	Who            string
	Split          string
	PlanURL        string // of the plan that helps; "" when there is none
	PlanText       string // of its link, or why there is none
	Share          float64
}

// HeatRow is a project or a Yorkie document.
type HeatRow struct {
	Key, Name, URL string
	Mono           bool
	Of             string // documents: the project
	OfURL          string
	Shard          *ShardRef
	Rate           Cell
	How            string
}

// HeatShard is a shard's part.
type HeatShard struct {
	Shard          ShardRef
	Rate           Cell
	How            string
	Reads, Latency Figure
	All            Figure // writes by the shard's own counters
}

// HeatMap is the key visualizer: what its script needs, and the same as a table.
type HeatMap struct {
	State  State
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
	Shards []ShardRef
	Heads  []HeatHead // newest first
	Rows   []HeatCells
}

// HeatHead is a column's time.
type HeatHead struct{ Text, Title string }

// HeatCells is a row of the table.
type HeatCells struct {
	Key   string
	Name  Key
	URL   string
	Shard *ShardRef
	Cells []Figure
}
