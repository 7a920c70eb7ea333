package activity_test

import (
	"slices"
	"strconv"
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

// firstHour is what the log of a new cluster has of config.system.sessions, newest
// first: moves, one that failed, one under way, and before them its split into
// 1,023 entries, as 5.0.7 writes them.
func firstHour(t *testing.T, moves int) []topology.Event {
	t.Helper()
	id := func(b int) bson.D {
		return bson.D{
			{
				Key:   "_id",
				Value: bson.D{{Key: "id", Value: bson.Binary{Subtype: 4, Data: append([]byte{byte(b >> 2), byte(b << 6)}, make([]byte, 14)...)}}},
			},
		}
	}
	at := webtest.Epoch.Add(-50 * time.Minute)
	var out []topology.Event
	add := func(what string, d bson.D) {
		at = at.Add(100 * time.Millisecond)
		out = append(out, topology.Event{ID: what + strconv.Itoa(len(out)), Time: at, What: what, NS: string(webtest.SessionsNS),
			Shard: "shard-rs-1", Details: webtest.Must(bson.Marshal(d))})
	}
	for i := range 1023 {
		add(
			"multi-split",
			bson.D{
				{Key: "before", Value: bson.D{{Key: "min", Value: id(0)}, {Key: "max", Value: id(1023)}}},
				{Key: "number", Value: int32(i + 1)}, {Key: "of", Value: int32(1024)},
				{Key: "chunk", Value: bson.D{{Key: "min", Value: id(i)}, {Key: "max", Value: id(i + 1)}}},
				{Key: "owningShard", Value: "shard-rs-1"},
			},
		)
	}
	move := func(i int, what string, more ...bson.E) {
		add(
			what,
			append(
				bson.D{
					{Key: "min", Value: id(i)}, {Key: "max", Value: id(i + 1)}, {Key: "from", Value: "shard-rs-1"},
					{Key: "to", Value: "shard-rs-3"},
				},
				more...),
		)
	}
	for i := range moves {
		move(i, "moveChunk.start")
		move(i, "moveChunk.commit")
		move(i, "moveChunk.from", bson.E{Key: "step 1 of 6", Value: int32(2)}, bson.E{Key: "note", Value: "success"})
	}
	move(500, "moveChunk.start")
	move(500, "moveChunk.to", bson.E{Key: "note", Value: "aborted"},
		bson.E{Key: "errmsg", Value: strings.ReplaceAll(webtest.OrphansReason, string(webtest.DocumentsNS), string(webtest.SessionsNS))})
	move(500, "moveChunk.error")
	move(500, "moveChunk.from", bson.E{Key: "step 1 of 6", Value: int32(2)}, bson.E{Key: "note", Value: "aborted"})
	at = webtest.Epoch.Add(-4 * time.Second)
	move(501, "moveChunk.start")
	slices.Reverse(out)
	return out
}

// withSessions is a site of such a cluster, where people moved one chunk and failed
// to move another.
func withSessions(t *testing.T) *webtest.Server {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	own := *table.Collections[0]
	own.NS = webtest.SessionsNS
	table.Collections = append([]*topology.Collection{&own}, table.Collections...)
	all := slices.Concat(firstHour(t, 100),
		webtest.FailedAttempt(t, &table, 3, webtest.Epoch.Add(-20*time.Minute), webtest.OrphansReason),
		[]topology.Event{webtest.MoveEntry(t, &table, 7, webtest.Epoch.Add(-70*time.Minute), "moveChunk.commit")})
	slices.SortStableFunc(all, func(a, b topology.Event) int { return b.Time.Compare(a.Time) })
	table.Events = all
	s.Watcher.Publish(&table)
	return s
}

func TestInternalCollectionsAreFoldedAwayWithOneSwitch(t *testing.T) {
	s := withSessions(t)
	for _, c := range []struct {
		page, says, with string
	}{
		// 1 split (its first entry), 100 commits and 1 error are outcomes.
		{"/", "102 entries of internal collections are hidden.", ".events li"},
		{"/activity", "102 entries of internal collections are hidden.", ".events li"},
		{"/activity?kind=all", "1,328 entries of internal collections are hidden.", ".events li"},
		{"/activity?failed=1", "3 entries of internal collections are hidden.", ".events li"},
		{"/activity?kind=split", "1,023 entries of internal collections are hidden.", ".events li"},
		{"/activity?kind=move&shard=shard-rs-3", "305 entries of internal collections are hidden.", ".events li"},
		{"/collections", "1 internal collection is hidden.", "tr[data-key]"},
		{"/shards/shard-rs-1", "1 internal collection is hidden.", "tr[data-key]"},
		{"/activity ", "101 ended moves of internal collections are hidden.", ".timings tr"},
	} {
		doc := s.Page(t, strings.TrimSpace(c.page))
		note := doc.Find(".folded")
		expect.Contains(t, strings.ReplaceAll(note.Text(), "\u202f", ","), c.says, "%s says %q", c.page, note.Text())
		expect.Lacks(t, doc.Find(c.with).Text(), string(webtest.SessionsNS), "%s lists it", c.page)
		to, _ := note.First().Find("a").Attr("href")
		shown := s.Page(t, to)
		expect.Contains(t, shown.Find(c.with).Text(), "system.sessions", "%s leads to %s, which has it not", c.page, to)
		back, _ := shown.Find(".folded a").First().Attr("href")
		expect.That(t, strings.Contains(back, "internal=0") && s.Do("GET", back).Code == 200, "%s: back leads to %q", to, back)
	}
}

func TestMovesInFlightIncludeInternalCollections(t *testing.T) {
	s := withSessions(t)
	doc := s.Page(t, "/activity")
	expect.Contains(t, doc.Find(".moves li").Text(), string(webtest.SessionsNS), "moving now")
	got := webtest.Decode[api.FoldedList[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations?state=running"))
	expect.That(t, len(got.Items) == 1 && got.Items[0].NS == string(webtest.SessionsNS) && got.Items[0].Internal && got.Hidden == 0,
		"%+v", got)
	hour := strings.ReplaceAll(s.Page(t, "/").Find(".facts").Text(), "\u202f", "")
	expect.Contains(t, hour, "of internal collections: 100 moved, 1 failed", "the text")
}

func TestLinksKeepTheSwitchForInternalCollections(t *testing.T) {
	s := withSessions(t)
	doc := s.Page(t, "/activity?internal=1")
	for sel, want := range map[string]bool{`nav a[href^="/collections"]`: true, `a[href^="/heat"]`: true,
		`a[href^="/projects"]`: false, `a[href^="/advice"]`: false, `a[href*="page=2"]`: true} {
		link := doc.Find(sel).First()
		to, ok := link.Attr("href")
		expect.That(t, ok && strings.Contains(to, "internal=1") == want, "%s leads to %q", sel, to)
	}
	v, _ := doc.Find(`form[action="/activity"] input[name="internal"]`).Attr("value")
	expect.Equal(t, v, "1", "the filter forgets it")
	live, _ := doc.Find("#live-activity").Attr("data-live-url")
	expect.Equal(t, live, "/activity?internal=1", "live")
	live, _ = s.Page(t, "/?internal=1").Find("#live-overview").Attr("data-live-url")
	expect.Equal(t, live, "/?internal=1", "live")
	plain := s.Page(t, "/activity")
	expect.Equal(t, plain.Find(`a[href*="internal=1"]`).Length(), plain.Find(".folded a").Length(), "links have it though it is off")
	for _, page := range []string{"/", "/activity", "/collections", "/heat", "/shards/shard-rs-1", "/api/v1/activity",
		"/api/v1/activity/migrations", "/api/v1/activity/failures", "/api/v1/shards/shard-rs-1"} {
		expect.Equal(t, s.Do("GET", page+"?internal=yes").Code, 400, "%s", page)
	}
}

func TestTheAPIFoldsInternalCollectionsToo(t *testing.T) {
	s := withSessions(t)
	all := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity"))
	expect.That(t, len(all.Items) == 5 && all.Hidden == 1328 && all.Next == "", "%d items, %d hidden", len(all.Items), all.Hidden)
	page := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity?limit=2"))
	rest := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity?limit=3&cursor="+string(page.Next)))
	if len(page.Items) != 2 || len(rest.Items) != 3 || page.Hidden != 1328 || rest.Hidden != 1328 || rest.Items[0].ID != all.Items[2].ID ||
		rest.Next != "" {
		t.Errorf("%+v, then %+v", page, rest)
	}
	with := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity?internal=1&limit=1000"))
	expect.That(t, len(with.Items) == 1000 && with.Hidden == 0 && with.Next != "", "%d items, %d hidden", len(with.Items), with.Hidden)
	named := webtest.Decode[api.FoldedList[api.Event]](t, s.Do("GET", "/api/v1/activity?ns=config.system.sessions&what=moveChunk."))
	expect.That(t, len(named.Items) == 100 && named.Hidden == 0, "%d of those asked for by name", len(named.Items))
	moves := webtest.Decode[api.FoldedList[api.Migration]](t, s.Do("GET", "/api/v1/activity/migrations"))
	expect.That(t, len(moves.Items) == 3 && moves.Hidden == 101, "%d moves, %d hidden", len(moves.Items), moves.Hidden)
	fails := webtest.Decode[api.FoldedList[api.MigrationFailures]](t, s.Do("GET", "/api/v1/activity/failures"))
	expect.That(t, len(fails.Items) == 1 && fails.Items[0].Count == 1 && fails.Hidden == 1, "%+v", fails)
	fails = webtest.Decode[api.FoldedList[api.MigrationFailures]](t,
		s.Do("GET", "/api/v1/activity/failures?internal=1"))
	expect.That(t, fails.Items[0].Count == 2 && fails.Hidden == 0, "%+v", fails)
	on := webtest.Decode[api.ShardDetail](t, s.Do("GET", "/api/v1/shards/shard-rs-1"))
	with1 := webtest.Decode[api.ShardDetail](t, s.Do("GET", "/api/v1/shards/shard-rs-1?internal=1"))
	expect.That(t, on.Hidden == 1 && with1.Hidden == 0 && len(with1.Contents) == len(on.Contents)+1 && on.Chunks == with1.Chunks,
		"%d hidden of %d", on.Hidden, len(with1.Contents))
	sum := 0
	for _, c := range on.Contents {
		if c.Sharded {
			sum += c.Chunks
		}
	}
	expect.That(t, sum == on.Chunks, "the list has %d chunks, its head %d", sum, on.Chunks)
}

func TestTwoTimesAreComparedWithoutInternalCollections(t *testing.T) {
	x := webtest.NewPastServer(t)
	table := *x.Watcher.Get()
	own := *table.Collection(webtest.DocumentsNS)
	own.NS, own.Incarnation.UUID = webtest.SessionsNS, [16]byte{9, 9}
	table.Collections = append([]*topology.Collection{&own}, table.Collections...)
	x.Show(webtest.Epoch.Add(time.Minute), &table)
	here, there := own.Chunks.Owner(4), "shard-rs-1"
	if here == there {
		there = "shard-rs-2"
	}
	x.Show(webtest.Epoch.Add(2*time.Minute), webtest.WithMoved(x.Watcher.Get(), webtest.SessionsNS, 4, there))
	x.Show(webtest.Epoch.Add(3*time.Minute), webtest.WithMoved(x.Watcher.Get(), webtest.SessionsNS, 4, here))
	logged := *x.Watcher.Get()
	logged.Events = firstHour(t, 0)[5:] // the split alone
	x.Show(webtest.Epoch.Add(4*time.Minute), &logged)
	x.Now = x.Now.Add(time.Minute)
	span := "?from=" + answer.AtText(webtest.Epoch.Add(time.Minute)) + "&to=" + answer.AtText(webtest.Epoch.Add(2*time.Minute))
	doc := x.Page(t, "/compare"+span)
	text := doc.Find(".folded").Text()
	expect.That(t, strings.Contains(text, "1 internal collection is hidden.") &&
		!strings.Contains(doc.Find("table").Text(), string(webtest.SessionsNS)), "%q", text)
	to, _ := doc.Find(".folded a").Attr("href")
	expect.Contains(t, x.Page(t, to).Find("table").Text(), string(webtest.SessionsNS), "%s", to)
	got := webtest.Decode[api.Comparison](t, x.Do("GET", "/api/v1/history/compare"+span))
	expect.That(t, got.Hidden == 1 && len(got.Collections) == 0, "%+v", got)
	got = webtest.Decode[api.Comparison](t, x.Do("GET", "/api/v1/history/compare"+span+"&internal=1"))
	expect.That(t, got.Hidden == 0 && len(got.Collections) == 1, "%+v", got)
	all := "?from=" + answer.AtText(webtest.Epoch.Add(-2*time.Hour)) + "&limit=1000"
	h := webtest.Decode[api.History](t, x.Do("GET", "/api/v1/history"+all))
	if h.Next != "" || slices.ContainsFunc(h.Items, func(i api.HistoryItem) bool { return i.NS == string(webtest.SessionsNS) }) ||
		h.Hidden < 1025 { // 1,023 entries, two moves, and that the collection came
		t.Errorf("%d items, %d hidden", len(h.Items), h.Hidden)
	}
	h = webtest.Decode[api.History](t, x.Do("GET", "/api/v1/history"+all+"&internal=1"))
	expect.That(t, len(h.Items) == 1000 && h.Hidden == 0, "%d items, %d hidden", len(h.Items), h.Hidden)
	for _, page := range []string{"/compare" + span, "/api/v1/history/compare" + span, "/api/v1/history" + all} {
		expect.Equal(t, x.Do("GET", page+"&internal=2").Code, 400, "%s", page)
	}
}
