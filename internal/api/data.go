package api

import "time"

// DataDirectory is the state of a server's data directory.
type DataDirectory struct {
	Hold     string     `json:"hold"` // owned, ownedByAnother, ownerGone, vanished, unreadable, unreachable
	Writable bool       `json:"writable"`
	Since    *time.Time `json:"since"`         // begin of hold; null if unknown
	Why      string     `json:"why,omitempty"` // why nothing can be stored

	// Of a store that several shardboards share, the one that runs plans, records and sends alerts.
	Leads  bool    `json:"leads"`  // this one; true also for the owner of a directory
	Leader *Leader `json:"leader"` // null: the store is not shared
}

// Leader is the shardboard that leads those that share a store.
type Leader struct {
	Name  string     `json:"name"`  // host and process; "" while nobody is known to lead
	Since *time.Time `json:"since"` // null if unknown
}
