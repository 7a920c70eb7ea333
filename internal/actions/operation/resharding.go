package operation

import (
	"time"

	"shardboard/internal/topology"
)

// Resharding is a running operation that gives a collection another shard key, as the
// cluster shows it. Texts are the server's.
type Resharding struct {
	ID      string // UUID of the operation, which becomes the UUID of the collection
	NS      topology.Namespace
	Command string // OfReshardCollection, or a command that is built on it
	Key     string // the new shard key, as shardkey.Pattern writes it; "" if it cannot be read
	State   string // of the coordinator
	Shards  []ReshardingShard
	Reason  string    // code of the reason why Shards is not known; "" when it is
	At      time.Time // when it was read
}

// OfReshardCollection is the command of a resharding that changes the shard key.
const OfReshardCollection = "reshardCollection"

// ReshardingShard is the part of one shard in a resharding. The server divides the
// estimates evenly among the recipients, so a recipient can copy more than its estimate
// (observed on 5.0.7).
type ReshardingShard struct {
	Shard     string
	Donor     string // state as a donor; "" when it gives nothing
	Recipient string // state as a recipient; "" when it receives nothing

	Documents, DocumentsEstimate int64 // copied by a recipient
	Bytes, BytesEstimate         int64
	Fetched, Applied             int64 // changes that were made to the collection since the copy began
	Left                         int64 // seconds left by the recipient's own estimate; -1: the server does not know
}

// Copied adds up what the recipients have copied and their estimates.
func (r Resharding) Copied() (documents, documentsEstimate, bytes, bytesEstimate int64) {
	for _, s := range r.Shards {
		if s.Recipient != "" {
			documents, documentsEstimate = documents+s.Documents, documentsEstimate+s.DocumentsEstimate
			bytes, bytesEstimate = bytes+s.Bytes, bytesEstimate+s.BytesEstimate
		}
	}
	return documents, documentsEstimate, bytes, bytesEstimate
}

// Left is the longest estimate of a recipient in seconds, because the operation ends with
// the last one; -1 when a recipient does not know it.
func (r Resharding) Left() int64 {
	left := int64(-1)
	for _, s := range r.Shards {
		switch {
		case s.Recipient == "":
		case s.Left < 0:
			return -1
		default:
			left = max(left, s.Left)
		}
	}
	return left
}
