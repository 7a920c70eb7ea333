package web

import (
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/topology"
)

func TestARunTellsTheChangelogWithTheServersCounts(t *testing.T) {
	a := cannedActions()
	counted := bson.D{{Key: "cloned", Value: int64(7)}, {Key: "clonedBytes", Value: int64(700)}, {Key: "text", Value: "no number"}}
	for i := range a.runs {
		r := &a.runs[i]
		if r.ID != recordNamed("running") {
			continue
		}
		r.Steps[0].Events = append(
			r.Steps[0].Events,
			topology.Event{ID: "e2", Time: epoch.Add(-40 * time.Second), What: "moveChunk.commit", NS: "yorkie-meta.documents", Shard: "shard-rs-1",
				Details: mustBSON(bson.D{{Key: "from", Value: "shard-rs-1"}, {Key: "to", Value: hostileName}, {Key: "counts", Value: counted}})},
			topology.Event{
				ID:      "e3",
				Time:    epoch.Add(-30 * time.Second),
				What:    "moveChunk.from",
				Details: mustBSON(bson.D{{Key: "counts", Value: "seven"}}),
			},
		)
	}
	s := newSite(t, withActions(a))
	events := decode[api.Run](t, s.do("GET", "/api/v1/runs/"+recordNamed("running"))).Steps[0].Events
	if len(events) != 3 {
		t.Fatalf("%+v", events)
	}
	commit := events[1]
	if commit.What != "moveChunk.commit" || commit.From != "shard-rs-1" || commit.To != hostileName || commit.At == nil ||
		!commit.At.Equal(epoch.Add(-40*time.Second)) ||
		len(commit.Counts) != 2 || commit.Counts["cloned"] != 7 ||
		commit.Counts["clonedBytes"] != 700 {
		t.Errorf("%+v", commit)
	}
	if events[0].Counts != nil || events[2].Counts != nil {
		t.Errorf("counts that nobody logged: %+v", events)
	}
	log := parse(t, s.do("GET", "/runs/"+recordNamed("running")).Body.String()).Find("ol.events").Text()
	if !strings.Contains(log, "cloned 7, clonedBytes 700") {
		t.Errorf("the page's log has no counts: %s", log)
	}
}
