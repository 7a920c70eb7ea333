package cluster

import (
	"math"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// maxAmount is more than any count or size that a server can have, in one collection on one shard: 4 PiB. Thousands of
// them add up without an overflow.
const maxAmount = 1 << 52

// amount reads a number of things or bytes, which servers and clients write as int, long or double, truncated. This is
// the only door for numbers of a server: what cannot be one (negative, not a number, too large) is not known.
func amount(v bson.RawValue) (n int64, ok bool) {
	f, ok := float(v)
	if !ok || math.IsNaN(f) || f < 0 || f > maxAmount {
		return 0, false
	}
	if n, whole := v.Int64OK(); whole {
		return n, true
	}
	return int64(f), true
}

// float reads any number, NaN and negative ones too.
func float(v bson.RawValue) (float64, bool) {
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

// longest is longer than any server runs.
const longest = 100 * 365 * 24 * time.Hour

// duration reads how long something took or takes.
func duration(v bson.RawValue, unit time.Duration) (time.Duration, bool) {
	n, ok := amount(v)
	if !ok || n > int64(longest/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// figure is an amount with how and when it was read; not known, with the reason, where it is none.
func figure(v bson.RawValue, method string, at time.Time) topology.Figure {
	if n, ok := amount(v); ok {
		return topology.Figure{Known: true, Value: n, Method: method, At: at}
	}
	if _, is := float(v); is {
		return topology.Figure{Reason: "outOfRange", At: at}
	}
	return topology.Figure{Reason: "notReported", At: at}
}

// countText is a count for a sentence of an error.
func countText(v bson.RawValue) any {
	if n, ok := amount(v); ok {
		return n
	}
	return "an unknown number of"
}
