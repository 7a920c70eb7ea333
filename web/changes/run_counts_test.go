package changes_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestRunShowsTheServersCountsOfItsMoves(t *testing.T) {
	a := webtest.CannedActions()
	counted := bson.D{{Key: "cloned", Value: int64(7)}, {Key: "clonedBytes", Value: int64(700)}, {Key: "text", Value: "no number"}}
	for i := range a.RunList {
		r := &a.RunList[i]
		if r.ID != webtest.RecordID("running") {
			continue
		}
		r.Steps[0].Events = append(
			r.Steps[0].Events,
			topology.Event{
				ID:    "e2",
				Time:  webtest.Epoch.Add(-40 * time.Second),
				What:  "moveChunk.commit",
				NS:    "yorkie-meta.documents",
				Shard: "shard-rs-1",
				Details: webtest.MustBSON(
					bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: webtest.HostileName}, {Key: "counts", Value: counted}},
				),
			},
			topology.Event{
				ID:      "e3",
				Time:    webtest.Epoch.Add(-30 * time.Second),
				What:    "moveChunk.from",
				Details: webtest.MustBSON(bson.D{{Key: "counts", Value: "seven"}}),
			},
		)
	}
	s := webtest.New(t, webtest.WithActions(a))
	events := webtest.Decode[api.Run](t, s.Do("GET", "/api/v1/runs/"+webtest.RecordID("running"))).Steps[0].Events
	if len(events) != 3 {
		t.Fatalf("%+v", events)
	}
	commit := events[1]
	if commit.What != "moveChunk.commit" || commit.From != "shard-rs-1" || commit.To != webtest.HostileName || commit.At == nil ||
		!commit.At.Equal(webtest.Epoch.Add(-40*time.Second)) ||
		len(commit.Counts) != 2 || commit.Counts["cloned"] != 7 || commit.Counts["clonedBytes"] != 700 {
		t.Errorf("%+v", commit)
	}
	if events[0].Counts != nil || events[2].Counts != nil {
		t.Errorf("counts that nobody logged: %+v", events)
	}
	log := webtest.ParseHTML(t, s.Do("GET", "/runs/"+webtest.RecordID("running")).Body.String()).Find("ol.events").Text()
	expect.Contains(t, log, "cloned 7, clonedBytes 700", "the log of the page")
}
