package locate_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// movedTwice is a story whose third chunk of changes came from shard-rs-3 over shard-rs-2.
func movedTwice() answer.View {
	return webtest.NewStory().With(func(t *topology.Table) {
		c := t.Collection("yorkie-meta.changes")
		ch := c.Chunks.At(2)
		other := "shard-rs-2"
		if ch.Shard == other {
			other = "shard-rs-1"
		}
		event := func(ago time.Duration, from, to string) topology.Event {
			return topology.Event{ID: from + to, Time: webtest.Epoch.Add(-ago), What: "moveChunk.commit", NS: string(c.NS),
				Details: webtest.Must(bson.Marshal(
					bson.D{{Key: "min", Value: webtest.Must(c.Key.Document(ch.Min))}, {Key: "max", Value: webtest.Must(c.Key.Document(ch.Max))},
						{Key: "from", Value: from}, {Key: "to", Value: to}}))}
		}
		t.Events = []topology.Event{event(time.Hour, other, ch.Shard), event(3*time.Hour, ch.Shard, other),
			{ID: "old", Time: webtest.Epoch.Add(-6 * time.Hour), What: "dropDatabase", NS: "x"}}
	}).View()
}

func TestTheOwnersOfAChunkReachBackAsFarAsTheyAreKnown(t *testing.T) {
	v := movedTwice()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.changes")
	ref := answer.ChunkRef(c, c.Chunks.At(2).Min)
	a := webtest.Decode[api.ChunkAround](t, s.Do("GET", "/api/v1/collections/yorkie-meta.changes/chunks/"+ref+"/around"))
	now := c.Chunks.At(2).Shard
	want := []time.Duration{6*time.Hour + 36*time.Minute, 6 * time.Hour, 3 * time.Hour, time.Hour}
	if len(a.Owners.Spans) != len(want) {
		t.Fatalf("%+v", a.Owners.Spans)
	}
	end := a.Owners.From
	for i, x := range a.Owners.Spans {
		known := x.Shard != ""
		if !x.From.Equal(webtest.Epoch.Add(-want[i])) || !x.From.Equal(end) || known != (i > 0) || i > 0 && (x.Shard == now) != (i != 2) {
			t.Errorf("span %d: %+v", i, x)
		}
		end = x.To
	}
	if !end.Equal(a.Owners.To) {
		t.Errorf("ends at %s", end)
	}
}

// MongoDB 4.4 and 5.0 log the chunks that were merged instead of the merged range.
func TestTheOwnersOfAChunkKnowMergesOfOlderReleases(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		c := t.Collection("yorkie-meta.changes")
		ch := c.Chunks.At(2)
		part := bson.D{{Key: "min", Value: webtest.Must(c.Key.Document(ch.Min))}, {Key: "max", Value: webtest.Must(c.Key.Document(ch.Max))}}
		t.Events = []topology.Event{
			{ID: "m", Time: webtest.Epoch.Add(-time.Hour), What: "merge", NS: string(c.NS),
				Details: webtest.Must(bson.Marshal(bson.D{{Key: "merged", Value: bson.A{part}}}))},
			{ID: "old", Time: webtest.Epoch.Add(-6 * time.Hour), What: "dropDatabase", NS: "x"},
		}
	}).View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	c := v.Table.Collection("yorkie-meta.changes")
	a := webtest.Decode[api.ChunkAround](t, s.Do("GET", "/api/v1/collections/yorkie-meta.changes/chunks/"+
		answer.ChunkRef(c, c.Chunks.At(2).Min)+"/around"))
	if len(a.Owners.Marks) != 1 || a.Owners.Marks[0].What != "merge" || !a.Owners.Marks[0].At.Equal(webtest.Epoch.Add(-time.Hour)) {
		t.Errorf("%+v", a.Owners.Marks)
	}
}

func TestAChunksPageLeadsToItsNeighboursAndProjects(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.New(t)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	doc := webtest.ParseHTML(t, s.Do("GET", webtest.ChunkPath(v, "yorkie-meta.documents", 2)).Body.String())
	for _, rel := range []string{"prev", "next"} {
		href, _ := doc.Find(`.neighbours a[rel="` + rel + `"]`).Attr("href")
		expect.Equal(t, s.Do("GET", href).Code, http.StatusOK, "%s leads to %q", rel, href)
	}
	expect.Equal(t, doc.Find(`.neighbourbars a[aria-current="page"]`).Length(), 1,
		"neighbours that are the chunk itself")
	project, _ := doc.Find(".chunkprojects a").First().Attr("href")
	if w := s.Do("GET", project); w.Code != http.StatusOK || !strings.Contains(doc.Find(".chunkprojects").Text(), "-") {
		t.Errorf("project %q: %d", project, w.Code)
	}
	c := v.Table.Collection("yorkie-meta.documents")
	first := webtest.ParseHTML(t, s.Do("GET", webtest.ChunkPath(v, "yorkie-meta.documents", 0)).Body.String())
	if first.Find(`.neighbours a[rel="prev"]`).Length() != 0 || !strings.Contains(first.Find(".neighbours").Text(), "First chunk") {
		t.Errorf("the first of %d chunks has one before it", c.Chunks.Len())
	}
}

func TestTheCurveSaysOfHowManyChunksItIs(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), 5*time.Minute, nil)
	c := v.Table.Collection("yorkie-meta.changes")
	some := false
	for i := range c.Chunks.Len() {
		ref := answer.ChunkRef(c, c.Chunks.At(i).Min)
		a := webtest.Decode[api.ChunkAround](t, s.Do("GET", "/api/v1/collections/yorkie-meta.changes/chunks/"+ref+"/around"))
		if a.Writes.From == nil || len(a.Writes.Rates) == 0 || a.Writes.Chunks < 1 {
			t.Fatalf("chunk %d: %+v", i, a.Writes)
		}
		for _, x := range a.Writes.Rates {
			some = some || x != nil && *x > 0
		}
	}
	if !some {
		t.Error("no chunk took writes")
	}
}
