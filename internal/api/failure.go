package api

import (
	"encoding/json"
	"time"
)

// FailureReason is why a move failed; empty for other entries. All entries of one move share the
// reason that one of them has: often moveChunk.to has one and moveChunk.error has none.
type FailureReason struct {
	Reason     string `json:"reason,omitempty"`     // the server's whole text; absent if it gave none
	ReasonFrom string `json:"reasonFrom,omitempty"` // the entry with the reason, such as moveChunk.to; run: the answer to a run's command
	ReasonCode string `json:"reasonCode,omitempty"` // orphans, otherMove, tooBig, …; none, other
	Meaning    string `json:"meaning,omitempty"`    // what happened, what it means, what to do

	// For pages only.
	Brief string `json:"-"` // Meaning without what to do; "" if only the server's text explains it
}

// FoldedList is one page of a list without the server's own collections (databases config, admin
// and local, system.* except system.buckets.*), which ?internal=1 includes.
type FoldedList[T any] struct {
	Items  []T       `json:"items"`
	Next   Cursor    `json:"next"`
	AsOf   time.Time `json:"asOf"`
	Stale  bool      `json:"stale"`
	Hidden int       `json:"hidden"` // entries left out of the whole list
}

// MarshalJSON writes an empty list as an array.
func (l FoldedList[T]) MarshalJSON() ([]byte, error) {
	type plain FoldedList[T] // drops the method, keeps the tags
	if l.Items == nil {
		l.Items = []T{}
	}
	l.AsOf = l.AsOf.UTC().Truncate(time.Millisecond)
	return json.Marshal(plain(l))
}

// LoggedList is a FoldedList made of the newest entries of the changelog.
type LoggedList[T any] struct {
	Items  []T       `json:"items"`
	Next   Cursor    `json:"next"`
	AsOf   time.Time `json:"asOf"`
	Stale  bool      `json:"stale"`
	Hidden int       `json:"hidden"` // left out of the whole list
	// ReadFrom is the time of the oldest entry that the list is made of, where the changelog may have older ones:
	// what happened before is found by GET activity. Null: the list has all that the changelog has.
	ReadFrom *time.Time `json:"readFrom"`
}

// MarshalJSON writes an empty list as an array.
func (l LoggedList[T]) MarshalJSON() ([]byte, error) {
	type plain LoggedList[T] // drops the method, keeps the tags
	if l.Items == nil {
		l.Items = []T{}
	}
	l.AsOf = l.AsOf.UTC().Truncate(time.Millisecond)
	return json.Marshal(plain(l))
}
