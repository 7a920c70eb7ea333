package locate

import (
	"shardboard/web/templates"
)

// Locate is the one box and its answer.
type Locate struct {
	Query, NS, Key string
	Asked          bool
	Problem        string
	Hint           string // what to do with an id that is in no collection by itself
	Read           string // how the question was understood and what it cost
	Anatomy        []templates.Anatomy
	Items          []LocateItem
	Examples       []Example
}

// Example is a question that has an answer in this cluster.
type Example struct {
	Text, URL, What string
}

// LocateItem is one thing that the question can mean.
type LocateItem struct {
	Kind       string // in words
	Name, ID   string
	DB         string
	Project    string
	ProjectURL string
	Removed    bool
	Answer     string // before the shards
	AnswerEnd  string // after them
	Shards     []templates.ShardRef
	Notes      []string
	Places     []PlaceRow
	URL        string // of its own page, if it has one
	Zoned      bool   // some place is in a zone
	Hashed     bool   // some place goes by a hash
	Why        templates.WhyPlaces
}

// PlaceRow is one collection of a located thing.
type PlaceRow struct {
	NS, URL   string
	What      string
	Shards    []templates.ShardRef
	Exact     bool
	Certainty string
	Exists    string
	ExistsBad bool
	KeyText   templates.Key
	Hash      string
	Min, Max  templates.Key
	Version   string
	Since     templates.Moment
	Zone      string
	Jumbo     bool
	Chunks    string
	Moving    string // that it is on its way; "" when it is not
}
