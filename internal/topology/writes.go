package topology

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// WriteQuery asks how many rows of a collection were written in [From, To).
type WriteQuery struct {
	NS       Namespace
	Project  string        // field with the project's id; "" if none
	Document string        // field with the Yorkie document's id; "" if none
	Date     string        // field with the time of the write; "" = the time in an ObjectID _id, to the second
	Of       bson.ObjectID // of this project only; zero: of all
	From, To time.Time     // To zero: until now
	Limit    int           // at most so many groups, busiest first
}

// WriteCount is the rows of one Yorkie document, or of one project where the
// collection has no documents, that were written in the time asked for.
type WriteCount struct {
	Project  bson.ObjectID
	Document bson.ObjectID // zero when the collection has no documents
	Rows     int64
}

// Operations is what a shard counted for a collection since its mongod began.
// It falls to zero when another member becomes primary.
type Operations struct {
	Reads, Writes, Commands          int64         // operations
	ReadTime, WriteTime, CommandTime time.Duration // that they took together
}

// NewestQuery asks for the rows of a collection that were written last.
type NewestQuery struct {
	NS   Namespace
	Key  []string  // fields of the shard key, which come back
	Also []string  // more fields to come back
	Date string    // field with the time of the write; "" = the time in an ObjectID _id
	From time.Time // none that are older
	// Field, Least and Most narrow it to values of the leading field of the shard
	// key, both included; zero values are no end. Field is "" for all rows.
	Field       string
	Least, Most bson.RawValue
	Limit       int
}

// KeyWrites is rows that were written lately with one value of the shard key,
// and whose they are, where that is known.
type KeyWrites struct {
	Key               shardkey.Key
	Rows              int64 // as many as it stands for, where a part of the time was counted
	Project, Document bson.ObjectID
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
