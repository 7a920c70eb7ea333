package storybook

import (
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// failedMany is a log of moves that failed: with a long reason, with a short one that
// is not known, and without any.
func failedMany(t *topology.Table) {
	c := t.Collection("yorkie-meta.documents")
	long := strings.Repeat("Data transfer error: ", 9) + webtest.OrphansReason
	var out []topology.Event
	for i, reason := range []string{long, "something that nobody knows", ""} {
		at := webtest.Epoch.Add(-time.Duration(i+1) * time.Minute)
		for n, what := range []string{"moveChunk.from", "moveChunk.error", "moveChunk.to"} {
			d := bson.D{
				{Key: "min", Value: webtest.Must(c.Key.Document(c.Chunks.At(i).Min))},
				{Key: "max", Value: webtest.Must(c.Key.Document(c.Chunks.At(i).Max))},
				{
					Key:   "from",
					Value: "shard-rs-1",
				},
				{Key: "to", Value: "shard-rs-2"},
				{Key: "step 1 of 6", Value: int32(12)},
				{Key: "note", Value: "aborted"},
			}
			if what == "moveChunk.to" && reason != "" {
				d = append(d, bson.E{Key: "errmsg", Value: reason})
			}
			out = append(
				out,
				topology.Event{
					ID:      what + strconv.Itoa(i),
					Time:    at.Add(-time.Duration(n) * time.Millisecond),
					What:    what,
					NS:      string(c.NS),
					Details: webtest.Must(bson.Marshal(d)),
				},
			)
		}
	}
	t.Events = append(out, t.Events...)
}

// sessionsOnly is a log that has nothing but the server's own collections.
func sessionsOnly(t *topology.Table) {
	t.Events = nil
	for i := range 3 {
		d := webtest.Must(
			bson.Marshal(bson.D{{Key: "number", Value: int32(1)}, {Key: "of", Value: int32(1024)}, {Key: "owningShard", Value: "shard-rs-1"}}),
		)
		t.Events = append(
			t.Events,
			topology.Event{
				ID:      strconv.Itoa(i),
				Time:    webtest.Epoch.Add(-time.Duration(i) * time.Minute),
				What:    "multi-split",
				NS:      "config.system.sessions",
				Details: d,
			},
		)
	}
}
