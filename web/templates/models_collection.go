package templates

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

// Pin is a project's pin and what the plan that made it said of it.
type Pin struct {
	Terms  string // a sentence: when it expires, or that this is not known
	Owner  string // hostile text; "" when nobody was named, or nothing is known
	Nobody bool   // the plan named no owner
}
