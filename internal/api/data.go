package api

import "time"

// DataDirectory is what a server may do with its data directory.
type DataDirectory struct {
	Hold     string     `json:"hold"` // owned, ownedByAnother, ownerGone, vanished, unreadable
	Writable bool       `json:"writable"`
	Since    *time.Time `json:"since"`         // of hold; null when it is not followed
	Why      string     `json:"why,omitempty"` // why nothing can be stored
}
