package api

import "time"

// Resharding is how far a running resharding is. Estimates are the server's: it divides the collection evenly
// among the recipients, so a recipient can copy more than its estimate.
type Resharding struct {
	ID     string            `json:"id"`     // UUID of the operation, which becomes that of the collection
	Key    string            `json:"key"`    // the new shard key, as mongosh writes it
	State  string            `json:"state"`  // of the coordinator: initializing, preparing-to-donate, cloning, applying, blocking-writes, committing, …
	Shards []ReshardingShard `json:"shards"` // empty when their parts are not known
	Reason string            `json:"reason"` // code of the reason for which they are not known; "" if they are

	Documents         int64 `json:"documents"` // copied by all recipients
	DocumentsEstimate int64 `json:"documentsEstimate"`
	Bytes             int64 `json:"bytes"`
	BytesEstimate     int64 `json:"bytesEstimate"`

	LeftSeconds *int64     `json:"leftSeconds"` // of the slowest recipient, by its own estimate; null: the server does not know
	At          *time.Time `json:"at"`          // when it was read
}

// ReshardingShard is the part of one shard.
type ReshardingShard struct {
	Shard             string `json:"shard"`
	Donor             string `json:"donorState"`     // "" if it gives nothing
	Recipient         string `json:"recipientState"` // "" if it receives nothing
	Documents         int64  `json:"documents"`      // copied
	DocumentsEstimate int64  `json:"documentsEstimate"`
	Bytes             int64  `json:"bytes"`
	BytesEstimate     int64  `json:"bytesEstimate"`
	Fetched           int64  `json:"changesFetched"` // changes of the collection since the copy began
	Applied           int64  `json:"changesApplied"`
	LeftSeconds       *int64 `json:"leftSeconds"` // null: the server does not know
}
