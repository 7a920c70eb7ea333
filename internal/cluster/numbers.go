package cluster

import (
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// longest is longer than any server runs.
const longest = 100 * 365 * 24 * time.Hour

// duration reads how long something took or takes.
func duration(v bson.RawValue, unit time.Duration) (time.Duration, bool) {
	n, ok := topology.Amount(v)
	if !ok || n > int64(longest/unit) {
		return 0, false
	}
	return time.Duration(n) * unit, true
}

// figure is an amount with how and when it was read; not known, with the reason, where it is none.
func figure(v bson.RawValue, method string, at time.Time) topology.Figure {
	if n, ok := topology.Amount(v); ok {
		return topology.Figure{Known: true, Value: n, Method: method, At: at}
	}
	if _, is := topology.Float(v); is {
		return topology.Figure{Reason: "outOfRange", At: at}
	}
	return topology.Figure{Reason: "notReported", At: at}
}
