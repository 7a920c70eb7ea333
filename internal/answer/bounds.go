package answer

import (
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/shardkey"
)

// boundWidth is how many characters of a bound a table shows: an ObjectID and
// a hash fit.
const BoundWidth = 47

// BoundText writes a key for a reader who knows the names of its fields: the values
// alone, ids as hex and numbers as digits, which is also what the filters take.
func BoundText(p shardkey.Pattern, k shardkey.Key) string {
	if p.Hiding() != nil {
		return "hidden: needs the role support"
	}
	values, err := p.Values(k)
	if err != nil {
		return p.Display(k)
	}
	parts := make([]string, len(values))
	for i, v := range values {
		parts[i] = PlainValue(v)
	}
	return strings.Join(parts, ", ")
}

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
