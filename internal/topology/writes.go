package topology

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// KeyWrites is rows that were written lately with one value of the shard key,
// and whose they are, where that is known.
type KeyWrites struct {
	Key               shardkey.Key
	Rows              int64 // as many as it stands for, where a part of the time was counted
	Project, Document bson.ObjectID
	DocumentText      string // the id of Document as people write it
}

// How recent writes to a range of keys are known.
const (
	WritesCounted = "counted"     // all new rows, by the writes that are counted all the time
	WritesNew     = "newestRows"  // the newest rows were read; rows that are changed in place are not seen
	WritesChanged = "changedRows" // the rows that were changed last were read; one that was changed twice is one row
)

// RangeWrites is what is known of recent writes to a range of keys.
type RangeWrites struct {
	NS       Namespace
	Min, Max shardkey.Key
	Method   string
	From, To time.Time // the time in which the rows were written
	Keys     []KeyWrites
	Rows     int64 // that were seen
	// PerSecond is rows a second in the range.
	PerSecond float64
	InShards  bool // what shards take together has them in it
	AtLeast   bool // there may be more values of the key than Keys has
	Growing   bool // newer rows have greater keys: the next go to the end of the range
	// Reason is why nothing is known, a catalogue code: "notPermitted", "unreachable",
	// "tooSlow", "noBudget", "notLoaded", "unsharded", or that the collection's writes
	// can't be seen: "inPlace", "scattered". Empty when it is known.
	Reason string
}
