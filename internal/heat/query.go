package heat

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
	"shardboard/internal/topology"
)

// WriteQuery asks how many rows of a collection were written in [From, To).
type WriteQuery struct {
	NS       topology.Namespace
	Project  string        // field with the project's id; "" if none
	Document string        // field with the Yorkie document's id; "" if none
	Date     string        // field with the time of the write; "" = the time in an ObjectID _id, to the second
	Of       bson.RawValue // of this project only; zero: of all
	From, To time.Time     // To zero: until now
	Limit    int           // at most so many groups, busiest first
}

// Written is the answer to a WriteQuery.
type Written struct {
	Counts []Count             // busiest first
	Stored placement.StoredIDs // of projects in Counts
}

// Operations is what a shard counted for a collection since its mongod began.
// It falls to zero when another member becomes primary.
type Operations struct {
	Reads, Writes, Commands          int64         // operations
	ReadTime, WriteTime, CommandTime time.Duration // that they took together
}

// NewestQuery asks for the rows of a collection that were written last.
type NewestQuery struct {
	NS   topology.Namespace
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
