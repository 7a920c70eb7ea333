package templates

import (
	"time"

	"shardboard/internal/api"
	"shardboard/internal/message"
)

// ShardRef is a shard as it is shown everywhere: a colour by its place in the
// sorted shard list, a short label inside the colour, and the full name.
type ShardRef struct {
	Name  string
	Label string // at most 3 characters, unique among the cluster's shards
	Color int    // 1..12; 0 for a shard that the table does not list
	URL   string
}

// Figure is a number ready to be shown, or the words for why there is none.
type Figure struct {
	Text   string // with its unit when the column header does not say it
	Known  bool
	Approx bool   // an estimate: drawn with ≈
	Title  string // how and when it was measured, or what to do about its absence
}

// Cell is a figure with its share of the column, drawn as a bar.
type Cell struct {
	Figure
	Share     float64 // 0..1 of the column's total; negative when unknown
	ShareText string
	Bar       float64 // 0..1 of the bar's full width
	Even      float64 // 0..1 where an even share would be; negative for none
}

// Shell is what surrounds every page.
type Shell struct {
	Title    string
	Nav      string // code of the current navigation entry
	Topics   []string
	Status   Status
	Shards   []ShardRef
	Target   string // redacted address of the cluster
	Server   string // MongoDB's version
	Demo     bool
	Version  string
	You      You
	Banners  []message.Message // what everybody must know on every page
	TakeOver bool              // the data directory has no owner, and who looks may make this process it

	Time     TimeBar  // leads through time, where the page has a past
	Watching Watching // asked for in the address
	Runs     bool     // changes can be made here, so there are runs to look at
}

// You is who looks at the page and what it offers them. The zero You is
// nobody, who sees nothing of the cluster.
type You struct {
	Name, Role                      string
	CanLeave                        bool // there is a session to end
	MayLocate, MayOperate, MayAdmin bool
}

// State and Status come with answers.
type (
	State  = api.State
	Status = api.Status
)

// Pager turns pages; empty URLs are ends.
type Pager struct {
	From, To, Of int // rows shown and rows matching; From counts from 1
	Prev, Next   string
}

// Flag is a short remark on a thing, with its explanation.
type Flag struct {
	Text, Title string
	Warn        bool // needs a person
}

// Fact is one line of a definition list.
type Fact struct {
	Name string
	URL  string // where the value leads; "" = nowhere
	Figure
	Mono bool
	Warn bool
}

// Key is a bound: short for the eye, full for the clipboard.
type Key struct {
	Short, Full string
}

// Moment is an instant shown as words, with the full time behind them.
type Moment struct {
	At   time.Time
	Text string
}

// Option is one choice of a select element.
type Option struct {
	Value, Text string
	Selected    bool
}
