// Package api has the JSON types of shardboard's API, shared by the server that writes them and the
// command line that reads them. Their forms are stable: lowerCamel names, bytes, RFC 3339 UTC
// times, 64-bit integers other than counts (hashes, clock values of versions) as strings, shard-key
// values as embedded canonical Extended JSON, and lists with the age of their data. The package has
// no logic of its own.
package api

import (
	"encoding/json"
	"time"
)

// Prefix begins every JSON route of this version of the API.
const Prefix = "/api/v1"

// Page sizes of lists with a cursor.
const (
	DefaultLimit = 100
	MaxLimit     = 1000
)

// Cursor is an opaque position in a list; pass it as ?cursor= to continue. The empty cursor is null
// in JSON, so that scripts recognise the end without knowing the format.
type Cursor string

// MarshalJSON writes null at the end of a list.
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
	AsOf  time.Time `json:"asOf"`  // when the data was last read successfully
	Stale bool      `json:"stale"` // the last poll failed or is overdue
	// Incomplete says which items are missing because they could not be read, and what would help; "" if none is.
	Incomplete string `json:"incomplete,omitempty"`
}

// MarshalJSON writes an empty list as an array, so that clients can loop over it.
func (l List[T]) MarshalJSON() ([]byte, error) {
	type plain List[T] // drops the method, keeps the tags
	if l.Items == nil {
		l.Items = []T{}
	}
	l.AsOf = l.AsOf.UTC().Truncate(time.Millisecond)
	return json.Marshal(plain(l))
}

// Freshness is the age of single objects, like a list's own fields.
type Freshness struct {
	AsOf  time.Time `json:"asOf"`
	Stale bool      `json:"stale"`
}

// Key is a shard-key value or bound as canonical Extended JSON, embedded and not as a string. Null
// without a value; {"value": null, "reason": "…"} if the user may not see bounds (--hide-bounds).
type Key = json.RawMessage

// Time is t in UTC to the millisecond, like the server's dates; nil for the zero time, because
// unknown is null and never year one.
func Time(t time.Time) *time.Time {
	if t.IsZero() {
		return nil
	}
	t = t.UTC().Truncate(time.Millisecond)
	return &t
}

// Address is an address on this server that begins with "/", or "". It is completed when it is written as JSON, by
// what the public URL and the cluster have before it.
type Address string
