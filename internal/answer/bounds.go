package answer

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// boundWidth is how many characters of a bound a table shows: an ObjectID and
// a hash fit.
const BoundWidth = 47

func PlainValue(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeObjectID:
		return v.ObjectID().Hex()
	case bson.TypeInt64:
		return strconv.FormatInt(v.Int64(), 10)
	case bson.TypeInt32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	}
	return shardkey.DisplayValue(v)
}
