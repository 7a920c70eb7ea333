package api

import "time"

// DataDirectory is the state of a server's data directory.
type DataDirectory struct {
	Hold     string     `json:"hold"` // owned, ownedByAnother, ownerGone, vanished, unreadable
	Writable bool       `json:"writable"`
	Since    *time.Time `json:"since"`         // begin of hold; null if unknown
	Why      string     `json:"why,omitempty"` // why nothing can be stored
}
