package topology

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// maxAmount is more than any count or size that a server can have, in one collection on one shard: 4 PiB. Thousands of
// them add up without an overflow.
const maxAmount = 1 << 52

// Amount reads a number of things or bytes, which servers and clients write as int, long or double, truncated. This is
// the only door for numbers of a server: what cannot be one (negative, not a number, too large) is not known.
func Amount(v bson.RawValue) (n int64, ok bool) {
	f, ok := Float(v)
	if !ok || math.IsNaN(f) || f < 0 || f > maxAmount {
		return 0, false
	}
	if n, whole := v.Int64OK(); whole {
		return n, true
	}
	return int64(f), true
}

// Float reads any number, NaN and negative ones too.
func Float(v bson.RawValue) (float64, bool) {
	switch v.Type {
	case bson.TypeInt32:
		n, ok := v.Int32OK()
		return float64(n), ok
	case bson.TypeInt64:
		n, ok := v.Int64OK()
		return float64(n), ok
	case bson.TypeDouble:
		return v.DoubleOK()
	}
	return 0, false
}
