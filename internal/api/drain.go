package api

import "time"

// Drain is what is left on a shard that drains.
type Drain struct {
	Chunks      *int       `json:"chunks"`      // null: not known yet
	Jumbo       int        `json:"jumbo"`       // of these: flagged, so that the balancer leaves them
	Bytes       Figure     `json:"bytes"`       // estimated: documents in these chunks and unsharded collections
	Databases   []string   `json:"databases"`   // that have it as primary shard; draining does not change that
	Unsharded   []string   `json:"unsharded"`   // unsharded collections of the routing table (8.0); draining does not move them
	SecondsLeft *float64   `json:"secondsLeft"` // for the chunks, at the pace of the last half hour; null: not known
	Since       *time.Time `json:"since"`       // null: before the changelog that is held
	Text        string     `json:"text"`        // the same in sentences
}
