package api

import "time"

// Owners is which shards had data of a collection, by the server's own record (config.placementHistory, 7.0 and later).
type Owners struct {
	NS         string   `json:"ns"`
	Known      bool     `json:"known"`      // the record was read; without it nothing follows from items
	Reason     string   `json:"reason"`     // why it is not known, else ""
	Items      []Owning `json:"items"`      // newest first, at most 50
	More       bool     `json:"more"`       // there are older ones
	Unreadable int      `json:"unreadable"` // rows left out, because they are not understood
}

// Owning is since when a set of shards has data of a collection; moves between these add no row.
type Owning struct {
	Since  time.Time `json:"since"`
	Shards []string  `json:"shards"` // in the server's order; empty: the collection was dropped
	// Earlier: the row is of an earlier collection of this name, or of the data before it was resharded.
	Earlier bool `json:"earlier"`
}
