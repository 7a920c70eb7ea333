package activity_test

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/changing"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/history"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestHistoryPagesListEveryChangeOnce(t *testing.T) {
	x := webtest.NewPastServer(t)
	for i := range 7 {
		x.Move(4, []string{"shard-rs-1", "shard-rs-2"}[i%2])
	}
	x.Now = x.Now.Add(time.Minute)
	balanced := *x.Watcher.Get()
	balanced.Rounds = cannedRounds
	x.Watcher.Publish(&balanced)
	ask := "/api/v1/history?limit=3&ns=yorkie-meta.documents&from=" + answer.AtText(webtest.Epoch.Add(time.Second))
	moved, pages := 0, 0
	for cursor := ""; ; pages++ {
		got := webtest.Decode[api.History](t, x.Do("GET", ask+"&cursor="+cursor))
		for _, i := range got.Items {
			if i.Kind == "moved" && i.Source == "observed" {
				moved++
				if i.NS != string(webtest.DocumentsNS) || len(i.Min) == 0 || i.From == "" || i.To == "" || i.Cause == nil || i.Cause.By != "balancer" ||
					!i.Cause.Inferred {
					t.Errorf("%+v", i)
				}
			}
		}
		if cursor = string(got.Next); cursor == "" || pages > 20 {
			break
		}
	}
	expect.That(t, moved == 7 && pages >= 2, "%d moves on %d pages", moved, pages)
	all := webtest.Decode[api.History](t, x.Do("GET", "/api/v1/history?from="+answer.AtText(webtest.Epoch.Add(-time.Hour))))
	logged := 0
	for _, i := range all.Items {
		if i.Source == "changelog" && i.Event != nil && i.Event.ID != "" {
			logged++
		}
	}
	expect.That(t, logged != 0 && all.Next != "", "%d logged of %d", logged, len(all.Items))
	for _, bad := range []string{"from=x", "to=2999-01-01T00:00:00Z", "limit=0", "cursor=%21", "cursor=bm8",
		"from=" + answer.AtText(x.Now) + "&to=" + answer.AtText(webtest.Epoch)} {
		expect.Equal(t, x.Do("GET", "/api/v1/history?"+bad).Code, 400, "%s", bad)
	}
}

func TestTwoTimesAreCompared(t *testing.T) {
	x := webtest.NewPastServer(t)
	x.Move(4, "shard-rs-1")
	x.Move(8, "shard-rs-1")
	zoned := *x.Watcher.Get()
	zoned.Zones = nil
	x.Show(x.Now.Add(time.Minute), &zoned)
	x.Now = x.Now.Add(time.Minute)
	between := "from=" + answer.AtText(webtest.Epoch) + "&to=" + answer.AtText(x.Now)
	got := webtest.Decode[api.Comparison](t, x.Do("GET", "/api/v1/history/compare?"+between))
	must.That(t, len(got.Collections) == 1 && got.Collections[0].Moved == 2 && got.Collections[0].What == "changed" &&
		len(got.Collections[0].Changes) == 2 && len(got.ZonesGone) == 1 && len(got.ZonesAdded) == 0, "%+v", got)
	var before, after int
	for _, s := range got.Shards {
		before, after = before+s.ChunksBefore, after+s.ChunksAfter
		expect.That(t, s.Shard != "shard-rs-1" || s.ChunksAfter == s.ChunksBefore+2, "%+v", s)
	}
	expect.That(t, before == after && before != 0, "%d chunks before, %d after", before, after)
	doc := x.Page(t, "/compare?"+between)
	text := doc.Find("main").Text()
	expect.That(t, strings.Contains(text, "2 moved, 0 split, 0 merged in 1 collection.") &&
		strings.Contains(text, "eu") && doc.Find("script").Length() == 2, "%s", text)
	same := x.Page(t, "/compare?from="+answer.AtText(x.Times[3])+"&to="+answer.AtText(x.Now))
	expect.That(t, strings.Contains(same.Find("main").Text(), "No chunk or zone range differs."), "%s", same.Find("main").Text())
	for ask, want := range map[string]int{"from=" + answer.AtText(x.Now) + "&to=" + answer.AtText(webtest.Epoch): 400, "from=rubbish": 400,
		"from=2020-01-01T00:00": 404, "": 200} {
		w := x.Do("GET", "/compare?"+ask)
		expect.That(t, w.Code == want && (want == 200 || strings.Contains(w.Body.String(), `role="alert"`)), "%s: %d", ask, w.Code)
	}
}

// withMoves is a table with a running, three ended and two failed moves.
func withMoves(t *testing.T, table *topology.Table, now time.Time) *topology.Table {
	next := *table
	next.Events = []topology.Event{webtest.MoveEntry(t, table, 9, now.Add(-5*time.Second), "moveChunk.start")}
	for i := range 3 {
		end := now.Add(-time.Duration(i+1) * time.Minute)
		next.Events = append(
			next.Events,
			webtest.MoveEntry(t, table, i, end, "moveChunk.from", bson.E{Key: "step 1 of 6", Value: int32(2)},
				bson.E{Key: "step 4 of 6", Value: int32(20_000)}, bson.E{Key: "step 6 of 6", Value: int32(900)},
				bson.E{Key: "note", Value: "success"}),
			webtest.MoveEntry(t, table, i, end.Add(-time.Millisecond), "moveChunk.commit"),
			webtest.MoveEntry(t, table, i, end.Add(-21*time.Second), "moveChunk.start"),
		)
	}
	for i := range 2 {
		end := now.Add(-time.Duration(i+10) * time.Minute)
		next.Events = append(next.Events, webtest.MoveEntry(t, table, i+4, end, "moveChunk.from", bson.E{Key: "step 1 of 6", Value: int32(2)},
			bson.E{Key: "note", Value: "aborted"}, bson.E{Key: "errmsg", Value: "<script>chunk too big: " + strings.Repeat("9", 8+i) + " bytes"}))
	}
	return &next
}

func TestActivityTellsOfMovesTheirStepsFailuresAndCauses(t *testing.T) {
	runs := func(from, _ time.Time) []history.OurRun {
		return []history.OurRun{
			{ID: "RUN7", NS: webtest.DocumentsNS, From: "shard-rs-1", To: "shard-rs-2", Start: webtest.Epoch.Add(-10 * time.Second)},
		}
	}
	s := webtest.New(t, func(d *site.Deps) { d.Past.Runs = runs })
	table := withMoves(t, s.Watcher.Get(), webtest.Epoch)
	table.Rounds = cannedRounds
	s.Watcher.Publish(table)
	doc := s.Page(t, "/activity")
	running := doc.Find(".moves li")
	text := running.Text()
	expect.That(t, running.Length() == 1 && strings.Contains(text, "Copying") &&
		strings.Contains(text, "expected to be done about 12:00:16") && strings.Contains(text, "estimate") &&
		strings.Contains(text, "a run of shardboard"), "%q", text)
	to, _ := running.Find("a.cause").Attr("href")
	expect.Equal(t, to, "/runs/RUN7", "the cause leads to")
	rows := doc.Find(".timings tbody tr:not(.reasons)")
	expect.That(t, rows.Length() == 5 && rows.First().Find("svg rect").Length() == 3 && doc.Find(".timings [style]").Length() == 0 &&
		strings.Contains(rows.First().Text(), "balancer (inferred)"), "%d rows: %s", rows.Length(), rows.First().Text())
	fails := doc.Find(".failures tbody tr")
	text = fails.Text()
	expect.That(t, fails.Length() == 1 && strings.Contains(text, "<script>chunk too big: … bytes") &&
		fails.Find("script").Length() == 0 && strings.Contains(text, "2"), "%q", text)
	got := webtest.Decode[api.List[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations"))
	expect.That(t, len(got.Items) == 6 && got.Items[0].State == "running" && got.Items[0].ETA != nil && got.Items[0].Cause.Run == "RUN7" &&
		got.Items[1].DonorMillis[3] == 20_000 && len(got.Items[1].Min) != 0, "%+v", got.Items)
	failed := webtest.Decode[api.List[api.MigrationFailures]](t, s.Do("GET", "/api/v1/activity/failures"))
	expect.That(t, len(failed.Items) == 1 && failed.Items[0].Count == 2, "%+v", failed.Items)
	expect.Equal(t, s.Do("GET", "/api/v1/activity/migrations?state=odd").Code, 400, "status")
}

func TestCauseOfAMoveUsesTheBalancerModeOfThatTime(t *testing.T) {
	x := webtest.NewPastServer(t)
	off := *x.Watcher.Get()
	off.Balancer.Mode = "off"
	x.Show(webtest.Epoch.Add(time.Minute), &off)
	at := webtest.Epoch.Add(90 * time.Second)
	logged := off
	logged.Rounds = cannedRounds
	logged.Events = []topology.Event{
		webtest.MoveEntry(t, &off, 3, at, "moveChunk.start"),
		webtest.MoveEntry(t, &off, 4, webtest.Epoch.Add(20*time.Second), "moveChunk.start"),
	}
	x.Show(webtest.Epoch.Add(2*time.Minute), &logged)
	got := webtest.Decode[api.List[api.Migration]](t, x.Do("GET", "/api/v1/activity/migrations"))
	expect.That(t, len(got.Items) == 2 && got.Items[0].Cause.By == "notOurs" && got.Items[1].Cause.By == "balancer", "%+v", got.Items)
}

func TestWatchedItemsStandInTheAddress(t *testing.T) {
	x := webtest.NewPastServer(t)
	c := x.Watcher.Get().Collection(webtest.DocumentsNS)
	item := changing.ChunkItem(c, c.Chunks.At(4).Min)
	project := changing.WatchProject + webtest.ProjectID(5).Hex()
	q := "?" + url.Values{"watch": {item, project}}.Encode()
	shard := func(page string) string {
		t.Helper()
		return strings.TrimSpace(x.Page(t, page).Find("#watching li").First().Find(".shard span").Text())
	}
	before := shard("/" + q)
	to := "shard-rs-1"
	if before == to {
		to = "shard-rs-2"
	}
	x.Move(4, to)
	got := shard("/" + q)
	expect.That(t, got == to && before != to, "on %s, moved to %s", got, to)
	expect.Equal(t, shard("/watch"+q), to, "the list")
	x.Now = x.Now.Add(time.Minute)
	got = shard("/" + q + "&at=" + answer.AtText(webtest.Epoch))
	expect.That(t, got == before, "in the past on %s, was on %s", got, before)
	doc := x.Page(t, "/collections/yorkie-meta.documents"+q)
	to, _ = doc.Find(".side a[href^='/projects']").Attr("href")
	expect.Equal(t, strings.Count(to, "watch="), 2, "links forget what is watched: %s", to)
	chunk := doc.Find("#watching li").First()
	key, _ := chunk.Attr("data-key")
	expect.Equal(t, doc.Find(".chunks tr[data-key='"+key+"']").Length(), 1, "no row of the chunk to mark")
	drop, _ := chunk.Find(".drop").Attr("href")
	expect.That(t, strings.Count(drop, "watch=") == 1 && !strings.Contains(drop, "chunk"), "stop watching leads to %s", drop)
	for _, bad := range []string{"x", "chunk:", "chunk:a.b", "project:zz", "<script>"} {
		w := x.Do("GET", "/watch?watch="+url.QueryEscape(bad))
		expect.That(t, w.Code == 400 && !strings.Contains(w.Body.String(), "<script>\""), "%s: %d", bad, w.Code)
		expect.Equal(t, x.Do("GET", "/?watch="+url.QueryEscape(bad)).Code, 200, "a page falls over %s", bad)
	}
	gone := x.Page(t, "/watch?watch="+url.QueryEscape("chunk:no.such:x.AA")+"&watch=project:"+strings.Repeat("0", 24))
	expect.ContainsAll(t, gone.Find("#watching").Text(), []string{"not sharded", "not in the list"}, "the text")
	w := x.Do("GET", "/watch?"+url.Values{"watch": strings.Split(strings.Repeat(project+" ", 21), " ")[:21]}.Encode())
	expect.Equal(t, w.Code, 400, "21 things")
}

func TestLiveRegionsAreTheSameForEverybodyWhoWatches(t *testing.T) {
	x := webtest.NewPastServer(t)
	c := x.Watcher.Get().Collection(webtest.DocumentsNS)
	q := "?" + url.Values{"watch": {changing.ChunkItem(c, c.Chunks.At(4).Min)}}.Encode()
	for _, p := range []string{"/", "/collections", "/activity"} {
		a, b := webtest.ShownData(t, x.Do("GET", p).Body.String()), webtest.ShownData(t, x.Do("GET", p+q).Body.String())
		expect.That(t, a == b, "%s: %s", p, webtest.FirstDifference(a, b))
	}
}

// cannedRounds is a balancer that moved something all day long.
var cannedRounds = topology.Rounds{From: time.Unix(0, 0), To: webtest.Epoch.Add(24 * time.Hour),
	Actions: []topology.BalancerAction{
		{ID: "round", What: "balancer.round", Time: webtest.Epoch.Add(12 * time.Hour), Took: 24 * time.Hour, Moved: 1},
	}}
