package topology

import "go.mongodb.org/mongo-driver/v2/bson"

// KeyedRow is what is read of a stored row to tell on which shard it is: its
// _id and the fields of its shard key, nothing else.
type KeyedRow struct {
	ID  bson.ObjectID
	Doc bson.Raw // of the fields that were asked for, owned by the row
}
