package topology

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func TestFailedMovesAreToldFromOtherEntries(t *testing.T) {
	note := func(text, from, to string) bson.Raw {
		d := bson.D{{Key: "note", Value: text}}
		if from != "" {
			d = append(d, bson.E{Key: "from", Value: from}, bson.E{Key: "to", Value: to})
		}
		raw := must.Get(bson.Marshal(d))
		return raw
	}
	for name, c := range map[string]struct {
		what    string
		details bson.Raw
		failed  bool
	}{
		"an error":               {"moveChunk.error", nil, true},
		"the donor gave up":      {"moveChunk.from", note("aborted", "a", "b"), true},
		"the recipient gave up":  {"moveChunk.to", note("aborted", "a", "b"), true},
		"without names":          {"moveChunk.from", note("aborted", "", ""), true},
		"to the shard it is on":  {"moveChunk.from", note("aborted", "a", "a"), false},
		"the donor succeeded":    {"moveChunk.from", note("success", "a", "b"), false},
		"a commit":               {"moveChunk.commit", note("aborted", "a", "b"), false},
		"another kind of change": {"split", note("aborted", "a", "b"), false},
		"no details":             {"moveChunk.from", nil, false},
	} {
		expect.Equal(t, (Event{What: c.what, Details: c.details}).FailedMove(), c.failed, "%s: failed", name)
	}
}
