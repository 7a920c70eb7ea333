package api

import (
	"encoding/json"
	"time"
)

// FailureReason is why a move failed; all empty for what did not fail. The entries
// of one move share the reason that one of them has: moveChunk.error often has
// none where moveChunk.to has one.
type FailureReason struct {
	Reason     string `json:"reason,omitempty"`     // the server's own text, whole; left out = it gave none
	ReasonFrom string `json:"reasonFrom,omitempty"` // the entry that has it, as moveChunk.to; run: the answer to a run's command
	ReasonCode string `json:"reasonCode,omitempty"` // orphans, otherMove, tooBig, …; none, other
	Meaning    string `json:"meaning,omitempty"`    // what happened, what it means, what to do
}

// FoldedList is one page of a list from which the server's own collections
// (databases config, admin and local, system.* but not system.buckets.*) are left
// out unless ?internal=1 asks for them.
type FoldedList[T any] struct {
	Items  []T       `json:"items"`
	Next   Cursor    `json:"next"`
	AsOf   time.Time `json:"asOf"`
	Stale  bool      `json:"stale"`
	Hidden int       `json:"hidden"` // entries of the whole list that were left out so
}

// MarshalJSON keeps an empty list an array.
func (l FoldedList[T]) MarshalJSON() ([]byte, error) {
	type plain FoldedList[T] // drops the method, keeps the tags
	if l.Items == nil {
		l.Items = []T{}
	}
	l.AsOf = l.AsOf.UTC().Truncate(time.Millisecond)
	return json.Marshal(plain(l))
}
