package api

import (
	"time"
)

// DeletionWait is what the deletion of documents that moves left behind waits for.
type DeletionWait struct {
	Held []HeldDeletion `json:"held"`
	// Unknown says why it is not known whether cursors hold one up; "" when it is known, or nothing is known to wait.
	Unknown string `json:"unknown"`
}

// HeldDeletion is a deletion on one shard that waits for open cursors: the shard deletes documents of a
// range only when no cursor of the collection is open that is older than the range's departure.
type HeldDeletion struct {
	NS       string         `json:"ns"`
	Shard    string         `json:"shard"`
	Cursors  int            `json:"cursors"`
	Oldest   *time.Time     `json:"oldest"` // when the oldest of them was opened
	Unsure   bool           `json:"unsure"` // the changelog does not have the move, so they may be younger than it
	Programs []CursorHolder `json:"programs"`
	Commands []string       `json:"commands"` // for mongosh: they end these cursors
	Text     Sentence       `json:"text"`
}

// CursorHolder is a program with open cursors.
type CursorHolder struct {
	Application string     `json:"application"` // the name that it gave itself; may be empty
	Host        string     `json:"host"`        // that it runs on, as the mongos saw it; empty if not told
	Cursors     int        `json:"cursors"`
	Oldest      *time.Time `json:"oldest"`
}
