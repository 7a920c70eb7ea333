package api

import (
	"encoding/json"
	"time"
)

// History is a page of what happened in a time, oldest first (GET history).
type History struct {
	Items []HistoryItem `json:"items"`
	Next  Cursor        `json:"next"`
	AsOf  time.Time     `json:"asOf"`
	Stale bool          `json:"stale"`
	From  time.Time     `json:"from"` // as asked for
	To    time.Time     `json:"to"`
	Begin *time.Time    `json:"begin"` // of what is kept at all
	Gaps  []HistoryGap  `json:"gaps"`  // spans in [from, to) in which nobody watched
	// Hidden is how many changes and entries of internal collections were left out
	// of this page's time; ?internal=1 has them.
	Hidden int `json:"hidden"`
	// Unreadable is how many stored changes of this page's time are not as they were
	// written, and were left out.
	Unreadable int `json:"unreadable"`
}

// HistoryGap is a span in which nobody watched: what happened in it is seen,
// joined into one, at its end.
type HistoryGap struct {
	From time.Time `json:"from"`
	To   time.Time `json:"to"`
}

// HistoryItem is one thing that happened. Observed ones have the time at which
// shardboard saw them, at most a poll after they happened; logged ones the time
// of the server that wrote them.
type HistoryItem struct {
	Time    time.Time `json:"time"`
	Kind    string    `json:"kind"`   // moved, split, merged, zoneRangeAdded, balancerOff, …; logged
	Source  string    `json:"source"` // observed or changelog
	NS      string    `json:"ns,omitempty"`
	Subject string    `json:"subject,omitempty"` // the shard, zone or database that it is about
	Min     Key       `json:"min,omitempty"`
	Max     Key       `json:"max,omitempty"`
	From    string    `json:"from,omitempty"` // shards, or zones before and after
	To      string    `json:"to,omitempty"`
	Cause   *Cause    `json:"cause,omitempty"` // of moves, splits and merges
	Failed  bool      `json:"failed,omitempty"`
	FailureReason
	Event *Event `json:"event,omitempty"` // of logged ones
}

// Cause is who made something happen.
type Cause struct {
	By       string `json:"by"`            // ours, balancer, notOurs or unknown
	Run      string `json:"run,omitempty"` // ours: its id
	Inferred bool   `json:"inferred"`      // nobody wrote down who it was
	Basis    string `json:"basis"`         // how it is known
}

// Comparison is what became different between two times (GET history/compare).
type Comparison struct {
	From        time.Time          `json:"from"`
	To          time.Time          `json:"to"`
	Collections []CollectionChange `json:"collections"` // by name, those that differ
	Shards      []ShardChange      `json:"shards"`      // by name, all
	ZonesAdded  []ZoneChange       `json:"zonesAdded"`
	ZonesGone   []ZoneChange       `json:"zonesRemoved"`
	Gaps        []HistoryGap       `json:"gaps"`
	Hidden      int                `json:"hidden"` // internal collections that differ and were left out; ?internal=1 has them
}

// CollectionChange is one collection's. Changes are at most 1,000; More tells
// how many are left out.
type CollectionChange struct {
	NS      string        `json:"ns"`
	What    string        `json:"what"` // changed, created, dropped or reloaded
	Moved   int           `json:"moved"`
	Split   int           `json:"split"`
	Merged  int           `json:"merged"`
	Changes []RangeChange `json:"changes"`
	More    int           `json:"more"`
}

// RangeChange is what happened to a range.
type RangeChange struct {
	Kind string `json:"kind"` // moved, split or merged
	Min  Key    `json:"min"`
	Max  Key    `json:"max"`
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
}

// ShardChange is one shard before and after.
type ShardChange struct {
	Shard        string `json:"shard"`
	ChunksBefore int    `json:"chunksBefore"`
	ChunksAfter  int    `json:"chunksAfter"`
	BytesBefore  Figure `json:"bytesBefore"`
	BytesAfter   Figure `json:"bytesAfter"`
}

// ZoneChange is a zone range that came or went.
type ZoneChange struct {
	NS   string          `json:"ns"`
	Zone string          `json:"zone"`
	Min  json.RawMessage `json:"min"`
	Max  json.RawMessage `json:"max"`
}

// Migration is what the changelog tells of one move of one range (GET
// activity/migrations).
type Migration struct {
	NS             string     `json:"ns"`
	Min            Key        `json:"min"`
	Max            Key        `json:"max"`
	From           string     `json:"from"`
	To             string     `json:"to"`
	Begin          time.Time  `json:"begin"`
	End            *time.Time `json:"end"`   // null while it runs
	State          string     `json:"state"` // running, committed, done, aborted or unclear
	DonorMillis    []int64    `json:"donorMillis"`
	DonorSteps     int        `json:"donorSteps"` // of how many; 0: not told
	RecipientMs    []int64    `json:"recipientMillis"`
	RecipientSteps int        `json:"recipientSteps"`
	Internal       bool       `json:"internal,omitempty"` // of one of the server's own collections
	FailureReason
	Documents *int64             `json:"documents"` // cloned; null: not told
	Bytes     *int64             `json:"bytes"`
	ETA       *MigrationEstimate `json:"eta"` // of a running one; null: nothing to estimate from
	Cause     Cause              `json:"cause"`
}

// MigrationEstimate is when a migration is likely to end: the middle of past
// durations after its begin.
type MigrationEstimate struct {
	At             time.Time `json:"at"`
	Overdue        bool      `json:"overdue"`
	Basis          int       `json:"basis"` // past migrations it is made from
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
	By     map[string]int `json:"by"` // how many of whom
}
