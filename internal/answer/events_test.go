package answer_test

import (
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestEventsTellFailuresFromRacesThatCostNothing(t *testing.T) {
	details := func(d bson.D) bson.Raw { return webtest.Must(bson.Marshal(d)) }
	v := webtest.NewStory().View()
	for _, c := range []struct {
		what   string
		d      bson.D
		failed bool
		want   string
	}{
		{"moveChunk.error", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}}, true, "Failed to move a chunk"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}, {Key: "note", Value: "aborted"}}, true, "Donor gave up"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "a"}, {Key: "note", Value: "aborted"}}, false, "already has"},
		{"moveChunk.from", bson.D{{Key: "from", Value: "a"}, {Key: "to", Value: "b"}, {Key: "note", Value: "success"}}, false, "Donor finished"},
		{"split", bson.D{{Key: "before", Value: bson.D{}}, {Key: "owningShard", Value: "a"}}, false, "Split a chunk in two"},
		{"brand.new.entry", bson.D{}, false, "brand.new.entry"},
	} {
		row := answer.EventOf(v, answer.ReadEvent(topology.Event{What: c.what, Time: webtest.Epoch, Details: details(c.d)}))
		if row.Failed != c.failed || !strings.Contains(row.Text, c.want) || (row.Brief != "") != c.failed {
			t.Errorf("%s %v: %+v", c.what, c.d, row)
		}
	}
}
