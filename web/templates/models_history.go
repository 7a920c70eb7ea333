package templates

import (
	"time"
)

// TimeBar is what leads a page through time. The zero value is none: the page
// is of now only, or no history is kept.
type TimeBar struct {
	On      bool
	At      time.Time // zero: the page shows now
	Looking string    // "You are looking at …", of a past time
	Status  string
	Notes   []State // what may be missing, and what is not of that time
	NowURL  string
	Action  string // the page's own address without query
	Keep    []Option
	Input   string // the field's value
	Latest  string // and its greatest

	Prev, Next, PrevFailure, NextFailure string // addresses that lead on
	Compare                              string

	Spans    []TimeSpan
	From, To Moment // of the picture
	FromMs   int64
	ToMs     int64
	AtMs     int64
	Ticks    []TimeTick
	Here     string // where At is, as a percentage
	Summary  string // of the picture, for those who do not see it
}

// TimeSpan is a choice of how much time the picture shows.
type TimeSpan struct {
	Text, URL string
	Current   bool
}

// TimeTick is a part of the picture's time in which something happened.
type TimeTick struct {
	X, W, Y, H string
	Failed     bool
	Title      string
}

// Compare is the model of the page that compares two times.
type Compare struct {
	Address    string // the page's own
	Folded     *Folded
	From, To   string // the fields' values
	Latest     string
	Problem    string
	Answer     string
	Notes      []State
	Shards     []CompareShard
	Collection []CompareCollection
	Zones      []CompareZone
	FromURL    string // the overview of then
	ToURL      string
	FromText   string
	ToText     string
}

// CompareShard is a shard before and after.
type CompareShard struct {
	Shard                                  ShardRef
	Bytes, BytesAfter, Chunks, ChunksAfter Figure
	BytesDelta, ChunksDelta                string
}

// CompareCollection is a collection that differs.
type CompareCollection struct {
	NS, URL, What        string
	Moved, Split, Merged Figure
	Ranges               []CompareRange
	More                 string
}

// CompareRange is what happened to a range.
type CompareRange struct {
	What     string
	Min, Max Key
	From, To *ShardRef
}

// CompareZone is a zone range that came or went.
type CompareZone struct {
	Zone, NS, What string
	Min, Max       Key
}

// Watching is what is watched and where it is now.
type Watching struct {
	Items []Watched
	Page  bool // the list is the page itself
}

// Watched is a chunk or a project that is watched.
type Watched struct {
	Item   string // as an address has it
	Name   string
	Kind   string
	Key    string // of rows that show it: a project's id, a chunk's key
	Chunk  string // a chunk's short name
	URL    string
	NS     string // of a chunk
	Where  []ShardRef
	Spaces string // for a script: a JSON array of the namespaces and shards that hold it
	Place  string // 0..1 in the key space of its collection; "" for none
	Gone   string // why it cannot be found
	Drop   string // address without it
}

// Migrations are the moves that the changelog tells of.
type Migrations struct {
	RunningTitle string
	Running      []MigrationRow
	Recent       []MigrationRow
	Steps        []string // names of the bars' parts, by number
	Failures     []FailureRow
	Folded       *Folded
}

// MigrationRow is one move of one range.
type MigrationRow struct {
	Key, Chunk string
	NS, URL    string
	From, To   ShardRef
	Min, Max   Key
	Begin      Moment
	State      string // code
	Word       string
	Phase      string
	ETA        string
	ETATitle   string
	Overdue    bool
	Cause      string
	CauseTitle string
	CauseURL   string
	Took       string
	Copied     string
	Parts      []MigrationPart
	PartsLabel string
	Why        string // of a failed one, in words
	Server     *ServerText
	Reached    string // how far it got, where the server gave no reason
}

// MigrationPart is a step of a move.
type MigrationPart struct {
	Class, X, W, Title string
}

// FailureRow is moves that failed for the same reason.
type FailureRow struct {
	Reason, Count, NS, By string
	Advice                string // what it means, what to do
	Server                *ServerText
	Last                  Moment
}
