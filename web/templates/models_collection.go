package templates

// Collections is the matrix of collections and shards.
type Collections struct {
	State     State
	Summary   string
	Shards    []ShardRef
	Rows      []CollectionRow
	Unsharded []UnshardedRow
	Why       State           // why the unsharded ones are not listed
	Internal  []CollectionRow // the server's own, where they are shown
	Folded    *Folded
	LiveURL   string
}

// CollectionRow is one line of the matrix.
type CollectionRow struct {
	NS, DB, Name, URL string
	Key               string
	Flags             []Flag
	Chunks            Figure
	Bytes             Figure
	Documents         Figure
	Cells             []MatrixCell // in the order of Shards
}

// MatrixCell is one collection on one shard.
type MatrixCell struct {
	Shard     ShardRef
	Empty     bool // no chunk there
	Bytes     Figure
	Documents Figure
	Chunks    string
	Bar       float64
	Share     string
	Title     string
}

// UnshardedRow is a collection that is wholly on its database's primary shard.
type UnshardedRow struct {
	NS        string
	Shard     ShardRef
	Bytes     Figure
	Documents Figure
}

// Collection is one collection's key space and its chunks.
type Collection struct {
	State        State
	LiveURL      string
	NS, DB, Name string
	URL          string
	Key          string
	Flags        []Flag
	Facts        []Fact
	Strip        Strip
	Lanes        []Lane
	Total, Bytes Figure // over all lanes
	Zoned        bool   // has zone ranges
	Heat         HeatLine
	Failed       FailedMoves
	Filter       ChunkFilter
	Chunks       []ChunkRow
	Pager        Pager
	Acts         Acts
	Moving       InFlight

	Heated   bool              // the table has a column for writes
	Measured string            // how much of the list was measured
	SortURLs map[string]string // of the columns' heads
}

// ChunkSize is the size of one chunk, and whether its shard would move it.
type ChunkSize struct {
	Past                   string // that it is of a past time
	Documents, Bytes, Mean Figure
	Mark                   string // exact, estimate, …, with its age
	Age                    Moment
	Took                   string
	Method                 string
	Failed                 string // the last attempt gave nothing, and why
	Level                  string // ok, note, bad: as a verdict is drawn
	Verdict                string
	Rule, Balancer         string
	Background             string
	PostURL                string // of the buttons; "" when there are none
	Needs                  string // why there are none
}

// Strip is the key space from MinKey to MaxKey, StripWidth units wide.
type Strip struct {
	Label   string // for screen readers: the picture in one sentence
	Caption string // what width means
	Box     string // viewBox of Paths and of the lanes
	Rects   []Rect // neighbours on one shard merged; empty when too many
	Paths   []Path // instead of Rects: one shape per shard
}

// Rect is a run of neighbouring chunks on one shard.
type Rect struct {
	Color   int
	X, W    string
	Key     string // data-key: encoded lower bound
	Title   string
	Label   string // drawn inside when wide enough
	LabelAt string
	URL     string
}

// Path is the union of one shard's pieces.
type Path struct {
	Color int
	D     string
}

// Lane is one shard's line below the strip.
type Lane struct {
	Shard  ShardRef
	D      string // path data, LaneHeight high
	Chunks Cell
	Bytes  Figure
}

// ChunkFilter is the form above the chunk table.
type ChunkFilter struct {
	ByBound bool // false: bounds are hidden
	Text    string
	At      string // key position
	Jumbo   bool
	Shards  []Option

	Oversized bool
	Sort      []Option
	Zones     []Option
	Active    bool
	Problem   string
}

// ChunkRow is one line of the chunk table.
type ChunkRow struct {
	Key      string // stable identity
	URL      string // of its own page
	N        int    // position in key order, from 1
	Min, Max Key
	Shard    ShardRef
	Version  string
	Since    Moment
	Jumbo    bool
	Zone     string
	Straddle bool
	Wrong    bool      // on a shard that is not in the zone
	Marked   bool      // the one that was asked for by its place in the picture
	MovingTo *ShardRef // a migration copies it there now; nil for none

	Documents, Bytes Figure
	SizeMark         string // how both are known, and since when
	SizeTitle        string // the same in a sentence
	Oversized        bool   // too big to move
	NearLimit        bool
	Writes           Figure // a second
}

// Zones is the model of the zones page.
type Zones struct {
	State      State
	Summary    string
	Level      string
	Zones      []ZoneRow
	Groups     []ZoneGroup
	Violations []Attention
}

// ZoneRow is one zone and the shards that carry it.
type ZoneRow struct {
	Name   string
	Shards []ShardRef
	Ranges int
	Warn   string
	Pin    *Pin // nil: it pins no project
}

// Pin is a project's pin and what the plan that made it said of it.
type Pin struct {
	To     string // a sentence on where to; "" beside the zone itself
	Terms  string // a sentence: when it expires, or that this is not known
	Owner  string // hostile text; "" when nobody was named, or nothing is known
	Nobody bool   // the plan named no owner
}

// ZoneGroup is the ranges of one collection.
type ZoneGroup struct {
	NS, URL string
	Sharded bool
	Key     string
	Ranges  []ZoneRangeRow
}

// ZoneRangeRow is one range bound to a zone.
type ZoneRangeRow struct {
	Zone     string
	Min, Max Key
	Chunks   string
	OnShards []ShardRef
	Problem  string
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
