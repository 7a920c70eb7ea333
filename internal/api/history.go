package api

import (
	"encoding/json"
	"time"

	"shardboard/internal/message"
)

// History is a page of changes in a time span, oldest first (GET history).
type History struct {
	Items []HistoryItem `json:"items"`
	Next  Cursor        `json:"next"`
	AsOf  time.Time     `json:"asOf"`
	Stale bool          `json:"stale"`
	From  time.Time     `json:"from"` // requested begin
	To    time.Time     `json:"to"`
	Begin *time.Time    `json:"begin"` // begin of the stored history
	Gaps  []HistoryGap  `json:"gaps"`  // spans in [from, to) without recording
	// Hidden is how many changes and entries of internal collections were left out of this page's
	// time span; ?internal=1 includes them.
	Hidden int `json:"hidden"`
	// Unreadable is how many damaged stored changes of this page's time span were left out.
	Unreadable int `json:"unreadable"`
}

// HistoryGap is a span without recording: its changes appear together at its end.
type HistoryGap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// HistoryItem is one change. Observed changes have the time shardboard saw them, at most one poll
// later; logged ones the time of the server that logged them.
type HistoryItem struct {
	Time       time.Time `json:"time"`
	Kind       string    `json:"kind"`   // moved, split, merged, zoneRangeAdded, balancerOff, …; logged
	Source     string    `json:"source"` // observed or changelog
	NS         string    `json:"ns,omitempty"`
	Subject    string    `json:"subject,omitempty"` // shard, zone or database
	Min        Key       `json:"min,omitempty"`
	Max        Key       `json:"max,omitempty"`
	KeyProject           // of min
	From       string    `json:"from,omitempty"` // shards, or zones before and after
	To         string    `json:"to,omitempty"`
	Cause      *Cause    `json:"cause,omitempty"` // of moves, splits and merges
	Failed     bool      `json:"failed,omitempty"`
	FailureReason
	Event *Event `json:"event,omitempty"` // of logged ones
}

// Cause is who caused a change.
type Cause struct {
	By       string `json:"by"`            // ours, balancer, notOurs or unknown
	Run      string `json:"run,omitempty"` // ours: the run's id
	Inferred bool   `json:"inferred"`      // inferred, because nothing records it
	Basis    string `json:"basis"`         // code of the evidence

	// For pages only.
	Label    string `json:"-"` // who, in words
	Evidence string `json:"-"` // Basis in words
}

// Comparison is the difference between two times (GET history/compare).
type Comparison struct {
	From        time.Time          `json:"from"`
	To          time.Time          `json:"to"`
	Collections []CollectionChange `json:"collections"` // changed collections, by name
	Shards      []ShardChange      `json:"shards"`      // all shards, by name
	ZonesAdded  []ZoneChange       `json:"zonesAdded"`
	ZonesGone   []ZoneChange       `json:"zonesRemoved"`
	Gaps        []HistoryGap       `json:"gaps"`
	Hidden      int                `json:"hidden"` // changed internal collections that were left out; ?internal=1 includes them

	Summary string `json:"-"` // the difference in one sentence, for pages
}

// CollectionChange is the change of one collection. Changes has at most 1,000 entries; More is the
// number of others.
type CollectionChange struct {
	NS      string        `json:"ns"`
	What    string        `json:"what"` // changed, created, dropped or reloaded
	Moved   int           `json:"moved"`
	Split   int           `json:"split"`
	Merged  int           `json:"merged"`
	Changes []RangeChange `json:"changes"`
	More    int           `json:"more"`

	// For pages only.
	Label string `json:"-"` // What in words; "" if it is still the same collection
	URL   string `json:"-"` // address of the collection; "" if it is gone
}

// RangeChange is the change of a range.
type RangeChange struct {
	Kind       string `json:"kind"` // moved, split or merged
	Min        Key    `json:"min"`
	Max        Key    `json:"max"`
	KeyProject        // of min
	From       string `json:"from,omitempty"`
	To         string `json:"to,omitempty"`

	Range RangeShown `json:"-"` // for pages
}

// ShardChange is one shard before and after.
type ShardChange struct {
	Shard        string `json:"shard"`
	ChunksBefore int    `json:"chunksBefore"`
	ChunksAfter  int    `json:"chunksAfter"`
	BytesBefore  Figure `json:"bytesBefore"`
	BytesAfter   Figure `json:"bytesAfter"`

	// For pages only.
	ChunksMore int64  `json:"-"` // chunks after less chunks before
	BytesMore  *int64 `json:"-"` // the same of bytes; nil: unknown
}

// ZoneChange is an added or removed zone range.
type ZoneChange struct {
	NS         string          `json:"ns"`
	Zone       string          `json:"zone"`
	Min        json.RawMessage `json:"min"`
	Max        json.RawMessage `json:"max"`
	KeyProject                 // of min

	Shown ZoneName   `json:"-"` // the zone
	Range RangeShown `json:"-"` // for pages
}

// Migration is one move of one range, from the changelog (GET activity/migrations).
type Migration struct {
	NS             string     `json:"ns"`
	Min            Key        `json:"min"`
	Max            Key        `json:"max"`
	KeyProject                // of min
	From           string     `json:"from"`
	To             string     `json:"to"`
	Begin          time.Time  `json:"begin"`
	End            *time.Time `json:"end"`   // null while it runs
	State          string     `json:"state"` // running, committed, done, aborted or unclear
	DonorMillis    []int64    `json:"donorMillis"`
	DonorSteps     int        `json:"donorSteps"` // number of steps; 0: unknown
	RecipientMs    []int64    `json:"recipientMillis"`
	RecipientSteps int        `json:"recipientSteps"`
	Internal       bool       `json:"internal,omitempty"` // of one of the server's own collections
	FailureReason
	Documents *int64             `json:"documents"` // cloned documents; null: unknown
	Bytes     *int64             `json:"bytes"`
	ETA       *MigrationEstimate `json:"eta"` // for running migrations; null without a basis
	Cause     Cause              `json:"cause"`

	// For pages only.
	Key      string          `json:"-"` // identifies its row
	Range    RangeShown      `json:"-"`
	Label    string          `json:"-"` // State in words
	Phase    string          `json:"-"` // what is known of one without a logged end
	Expected string          `json:"-"` // ETA in words
	ByWhat   string          `json:"-"` // how ETA was estimated
	Took     time.Duration   `json:"-"` // until now if it has no end
	Steps    []MigrationStep `json:"-"` // the donor's, without those that took no time
	Copied   string          `json:"-"` // what was copied, in words; "" if unknown
	Reached  string          `json:"-"` // how far it got if it failed without a reason
}

// MigrationStep is a step of a migration as pages show it.
type MigrationStep struct {
	Number int // from 1
	Name   string
	Took   time.Duration
}

// Moves is what the activity page shows of migrations.
type Moves struct {
	Running  []Migration // without a logged end, and not among those in flight
	Ended    []Migration // the newest
	Failures []MigrationFailures
	Hidden   int      // ended ones of internal collections that are left out
	Settled  bool     // the list of those in flight was read: Running are not known to be under way
	Steps    []string // names of the donor's steps; nil if none of Ended has named steps
}

// FailedMoves are the newest moves of a thing that failed, as its page lists them.
type FailedMoves struct {
	Items  []Event
	Hidden int    // of internal collections that are left out
	URL    string // of the page with all of them
	More   bool   // there are others
}

// MigrationEstimate is when a migration will probably end: its begin plus the median of past
// durations.
type MigrationEstimate struct {
	At             time.Time `json:"at"`
	Overdue        bool      `json:"overdue"`
	Basis          int       `json:"basis"` // number of past migrations used
	SameCollection bool      `json:"sameCollection"`
}

// MigrationFailures are failed migrations with the same reason (GET
// activity/failures).
type MigrationFailures struct {
	Reason string         `json:"reason"` // numbers and ids left out; "" = the server gave none
	Code   string         `json:"reasonCode"`
	Means  string         `json:"meaning"`           // what happened, what it means, what to do
	Newest string         `json:"example,omitempty"` // the server's whole text of the newest one
	Count  int            `json:"count"`
	Last   time.Time      `json:"last"`
	NS     []string       `json:"ns"`
	By     map[string]int `json:"by"` // counts by cause

	// For pages only.
	Title  string        `json:"-"` // Reason, or what it means that none was given
	Advice string        `json:"-"` // what Title does not say of Means
	Who    string        `json:"-"` // By in words
	Sample FailureReason `json:"-"` // of the newest one
}

// TimeAround is what happened around a past time, for the picture above its page. It is not in JSON.
type TimeAround struct {
	From, To time.Time
	Long     time.Duration // To - From
	Parts    int           // into which the time is divided
	Ticks    []TimeTick
	Most     int // changes in one part
	Summary  message.Message
}

// TimeTick is how many changes or failures one part of the time had.
type TimeTick struct {
	Part   int // from 0
	N      int
	Failed bool
	Title  message.Message
}
