package webtest

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
)

// OrphansReason is what a 5.0.7 wrote into moveChunk.to alone.
const OrphansReason = "ExceededTimeLimit: Failed to delete orphaned yorkie-meta.documents range [{ project_id: " +
	"ObjectId('6600006126d6cf4c63274108') }, { project_id: ObjectId('660000c2b17ce1a5c1c0fa74') }) :: caused by :: operation exceeded " +
	"time limit"

// FailedAttempt is a failed move of a chunk as 5.0.7 logs it, newest first.
func FailedAttempt(t testing.TB, table *topology.Table, chunk int, begin time.Time, reason string) []topology.Event {
	aborted := bson.E{Key: "note", Value: "aborted"}
	to := []bson.E{{Key: "step 1 of 7", Value: int32(3)}, aborted}
	if reason != "" {
		to = append(to, bson.E{Key: "errmsg", Value: reason})
	}
	return []topology.Event{
		MoveEntry(t, table, chunk, begin.Add(10065*time.Millisecond), "moveChunk.from",
			bson.E{Key: "step 1 of 6", Value: int32(0)}, bson.E{Key: "step 2 of 6", Value: int32(10040)}, aborted),
		MoveEntry(t, table, chunk, begin.Add(10044*time.Millisecond), "moveChunk.error"),
		MoveEntry(t, table, chunk, begin.Add(10040*time.Millisecond), "moveChunk.to", to...),
		MoveEntry(t, table, chunk, begin, "moveChunk.start"),
	}
}
