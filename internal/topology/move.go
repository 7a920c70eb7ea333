package topology

import "go.mongodb.org/mongo-driver/v2/bson"

// Move asks that a range of a collection go to a shard. Bounds are complete
// shard keys as documents (shardkey.Pattern.Document), hashed fields as hashes.
type Move struct {
	NS       Namespace
	Min, Max bson.Raw // [Min, Max)
	To       string   // shard name
	// Force moves a chunk that is too big or jumbo too, blocking writes to it for
	// longer. A jumbo chunk keeps its flag.
	Force bool
	// Wait ends the call only when the donor has deleted the range. Without it the
	// range can't come back until that is done, 15 minutes later by default.
	Wait bool
}
