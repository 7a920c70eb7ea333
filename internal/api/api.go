// Package api holds the wire types of shardboard's JSON API, shared by the
// server that writes them and the command line that reads them. It promises
// stable shapes: lowerCamel names, bytes, RFC 3339 UTC times, 64-bit integers
// that are not counts (hashes, versions' clock values) as strings, shard-key
// values as embedded canonical Extended JSON, and lists that always say how
// old they are. Nothing here decides anything; it only has a form.
package api

import (
	"encoding/json"
	"time"
)

// Prefix is where every JSON route of this version of the API begins.
const Prefix = "/api/v1"

// Paging bounds of every list that has a cursor.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Cursor is an opaque position in a list: give it back as ?cursor= to go on.
// The empty cursor is null on the wire, so that a script can tell "no more"
// from a value without knowing the form of one.
type Cursor string

// MarshalJSON writes null for the end of a list.
func (c Cursor) MarshalJSON() ([]byte, error) {
	if c == "" {
		return []byte("null"), nil
	}
	return json.Marshal(string(c))
}

// List is one page of a list.
type List[T any] struct {
	Items []T       `json:"items"`
	Next  Cursor    `json:"next"`  // null after the last page
	AsOf  time.Time `json:"asOf"`  // when the data was last known to be true
	Stale bool      `json:"stale"` // the last poll failed or is overdue
}

// MarshalJSON keeps an empty list an array: clients loop over items unasked.
func (l List[T]) MarshalJSON() ([]byte, error) {
	type plain List[T] // drops the method, keeps the tags
	if l.Items == nil {
		l.Items = []T{}
	}
	l.AsOf = l.AsOf.UTC().Truncate(time.Millisecond)
	return json.Marshal(plain(l))
}

// Freshness is what single objects carry in place of a list's own fields.
type Freshness struct {
	AsOf  time.Time `json:"asOf"`
	Stale bool      `json:"stale"`
}

// Key is a shard-key value or bound as canonical Extended JSON, embedded as
// JSON and not as a string. Null where there is none. {"value": null, "reason": "…"}
// where whoever asks may not see bounds (--hide-bounds).
type Key = json.RawMessage

// Time is t in UTC to the millisecond, as the server's own dates are, or nil
// for the zero time: unknown is null, never year one.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}
