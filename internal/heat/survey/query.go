package survey

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

// SizedRow is what a survey reads of a stored row: how large it is, whose it
// is, and the fields that decide where it is. Absent ids are zero.
type SizedRow struct {
	Project  bson.ObjectID
	Document bson.ObjectID
	Bytes    int64    // of its BSON
	Dead     bool     // fits the query's Dead
	Key      bson.Raw // _id and the fields that were asked for, owned by the row
}

// SizeQuery asks for rows with their sizes.
type SizeQuery struct {
	NS       topology.Namespace
	Project  string   // field with the project's id; "" if none
	Document string   // field with the Yorkie document's id; "" if none
	Key      []string // fields of the shard key
	Dead     profile.DeadMark
	Limit    int // rows
}

// DocumentSizeQuery asks what one Yorkie document takes of a collection.
type DocumentSizeQuery struct {
	NS       topology.Namespace
	Document string // field with its id
	ID       bson.RawValue
	Project  string        // field with the project's id; "" = none
	Of       bson.RawValue // of this project; zero: whatever the project
	Limit    int           // rows that are looked at
}

// DocumentSize is the answer.
type DocumentSize struct {
	Rows, Bytes int64
	AtLeast     bool // there are more rows than were looked at
}
