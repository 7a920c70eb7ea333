package topology

import "go.mongodb.org/mongo-driver/v2/bson"

// OwnersRow is a row of config.placementHistory (7.0): since when which shards have data of a collection.
type OwnersRow struct {
	Since  bson.Timestamp
	UUID   [16]byte // of the collection; zero if the row has none
	Shards []string // in the server's order; empty: the collection was dropped
}
