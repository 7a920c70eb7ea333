package matrix_test

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/answer"
	"shardboard/internal/answer/spread"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// serve shows a view of the story.
func serve(t *testing.T, v answer.View, change ...func(*site.Deps)) *webtest.Server {
	t.Helper()
	s := webtest.New(t, append([]func(*site.Deps){func(d *site.Deps) { d.Now = func() time.Time { return v.Now } }}, change...)...)
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	return s
}

// names are the names of the rows, in their order.
func names(doc *goquery.Document, class string) (out []string) {
	doc.Find(".grid tbody tr." + class + " th").Each(func(_ int, th *goquery.Selection) {
		th = th.Clone()
		th.Find("small, .fold").Remove()
		out = append(out, strings.TrimSpace(th.Text()))
	})
	return out
}

func TestRowsOfCollectionsAddUpToTheirSumAndTheShards(t *testing.T) {
	v := webtest.NewStory().View()
	table := spread.Matrix(v, spread.MatrixSource{}, spread.MatrixQuery{})
	must.That(t, len(table.Columns) == 3 && table.Groups == nil && len(table.Rows) == 14,
		"%d columns, %d groups, %d rows", len(table.Columns), len(table.Groups), len(table.Rows))
	list := webtest.Decode[api.List[api.MatrixRow]](t, serve(t, v).Do("GET", "/api/v1/matrix"))
	sums, total := map[string]int64{}, int64(0)
	for _, row := range list.Items {
		for _, part := range row.Shards {
			sums[part.Shard] += *part.Bytes.Value
			total += *part.Bytes.Value
		}
	}
	for _, shard := range answer.Shards(v) {
		if got := sums[shard.Name]; got != *shard.Bytes.Value {
			t.Errorf("%s: rows add up to %d bytes, the shard has %d", shard.Name, got, *shard.Bytes.Value)
		}
	}
	if sum := table.Rows[0]; sum.Name != "13 collections" || sum.Total.Text != format.Bytes(total) {
		t.Errorf("the sum %s is %s, not %s", sum.Name, sum.Total.Text, format.Bytes(total))
	}
}

func TestRowsAreSortedByAShardOrItsShareAndTheHeadSaysSo(t *testing.T) {
	v := webtest.NewStory().View()
	s := serve(t, v)
	first := names(s.Page(t, "/matrix"), "collection")
	expect.Equal(t, first[0], "yorkie-meta.changes", "largest first: %v", first)
	doc := s.Page(t, "/matrix?sort=on%3Ashard-rs-2")
	head := doc.Find(`.grid th[aria-sort="descending"]`)
	expect.That(t, head.Length() == 1 && strings.Contains(head.Text(), "shard-rs-2"), "sorted by %q", head.Text())
	reversed := names(s.Page(t, head.Find("a").AttrOr("href", "")), "collection")
	usual := names(doc, "collection")
	slices.Reverse(reversed)
	expect.That(t, reversed[len(reversed)-1] != usual[len(usual)-1] && reversed[0] == usual[0],
		"the head does not turn the order: %v, %v", usual, reversed)
	byName := names(s.Page(t, "/matrix?sort=name"), "collection")
	expect.That(t, slices.IsSorted(byName), "by name: %v", byName)
}

func TestUnknownCellsSayWhyAndAreNeverZero(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) { t.Sizes = map[topology.Namespace]topology.Sizes{} }).View()
	doc := serve(t, v).Page(t, "/matrix")
	cell := doc.Find(`tr[data-key="yorkie-meta.changes"] td`).First()
	expect.That(t, cell.Find("[aria-hidden]").Text() == "–" && cell.Find(".hidden").Text() == "not read yet",
		"an unknown total is %q", cell.Text())
	expect.Contains(t, cell.AttrOr("title", ""), "not read yet", "its title")
	expect.That(t, doc.Find(".is-loading, .is-partial, .is-stale, tr.total .hidden").Length() != 0, "nothing says that sizes are missing")
}

func TestASumWithAnUnknownPartIsALowerBound(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) { delete(t.Sizes, "yorkie-meta.snapshots") }).View()
	table := spread.Matrix(v, spread.MatrixSource{}, spread.MatrixQuery{})
	text := table.Rows[0].Total.Text
	expect.That(t, strings.HasPrefix(text, "≥"), "the sum without one collection is %q", text)
}

func TestPendingMovesAreAtBothEnds(t *testing.T) {
	v := webtest.NewStory().View()
	c := v.Table.Collection(webtest.DocumentsNS)
	chunk := c.Chunks.At(2)
	to := "shard-rs-3"
	if chunk.Shard == to {
		to = "shard-rs-2"
	}
	v.Table.Moves.List = []topology.InFlight{{NS: webtest.DocumentsNS, Min: webtest.Must(c.Key.Document(chunk.Min)),
		Max: webtest.Must(c.Key.Document(chunk.Max)), From: chunk.Shard, To: to, Since: v.Now}}
	row := serve(t, v).Page(t, "/matrix").Find(`tr[data-key="` + string(webtest.DocumentsNS) + `"]`)
	out, in := row.Find(".ghost.out.running"), row.Find(".ghost.in.running")
	must.That(t, out.Length() == 1 && in.Length() == 1, "%d leave, %d come", out.Length(), in.Length())
	expect.ContainsAll(t, in.AttrOr("title", ""), []string{"from " + chunk.Shard, "under way"}, "what comes")
	expect.Contains(t, out.Parent().Find("a").AttrOr("href", ""), "shard="+chunk.Shard, "the cell that it leaves")
	for _, part := range webtest.Decode[api.List[api.MatrixRow]](t, serve(t, v).Do("GET", "/api/v1/matrix?q=documents")).Items[0].Shards {
		expect.That(t, part.Shard != to || part.Arriving != nil && part.Arriving.Running == 1 && part.Arriving.Bytes != nil,
			"JSON of %s: %+v", to, part.Arriving)
	}
}

func TestManyShardsAreGroupsThatOpen(t *testing.T) {
	story := webtest.NewStory()
	story.Shards = 100
	v := story.View()
	s := serve(t, v)
	doc := s.Page(t, "/matrix")
	groups := doc.Find(".grid .groups th a")
	n := groups.Length()
	must.That(t, n >= 5 && n <= 12, "%d groups of 100 shards", n)
	open := s.Page(t, groups.First().AttrOr("href", ""))
	expect.Equal(t, open.Find(".grid thead tr:last-child th").Length(), groups.Length()+2+10, "columns with one group open")
	expect.Equal(t, open.Find(`.groups a[aria-expanded="true"]`).Length(), 1, "the open group does not say so")
	expect.Equal(t, s.Page(t, "/matrix?columns=each").Find(".grid thead th").Length(), 102, "columns of 100 shards")
}

func TestShardsAreGroupedByTheirZonesButNotByPins(t *testing.T) {
	story := webtest.NewStory()
	story.Shards = 20
	v := story.View()
	for i := range v.Table.Shards {
		v.Table.Shards[i].Zones = []string{[]string{"eu", "us"}[i%2], answer.PinZone(webtest.ProjectID(i))}
	}
	table := spread.Matrix(v, spread.MatrixSource{}, spread.MatrixQuery{})
	expect.That(t, len(table.Groups) == 2 && table.Groups[0].Name == "eu" && table.Groups[1].Shards() == "10 shards",
		"groups %+v", table.Groups)
}

func TestDatabasesOpenAndClose(t *testing.T) {
	v := manyDatabases()
	s := serve(t, v)
	doc := s.Page(t, "/matrix")
	must.That(t, doc.Find(".grid tr.database").Length() == 2 && doc.Find(".grid tr.collection").Length() != 0,
		"%d databases, %d collections", doc.Find("tr.database").Length(), doc.Find("tr.collection").Length())
	fold := doc.Find(`tr[data-key="db:shop"] .fold`)
	must.That(t, fold.AttrOr("aria-expanded", "") == "true", "the database is not open")
	closed := s.Page(t, fold.AttrOr("href", ""))
	if closed.Find(`tr[data-key^="shop."]`).Length() != 0 || closed.Find(`tr[data-key="db:shop"] .fold[aria-expanded="false"]`).Length() != 1 {
		t.Error("it does not close")
	}
}

func manyDatabases() answer.View {
	return webtest.NewStory().With(func(t *topology.Table) {
		t.Databases = append(t.Databases, topology.Database{Name: "shop", Primary: "shard-rs-2"})
		for i := range 5 {
			ns := topology.Namespace(fmt.Sprintf("shop.orders%d", i))
			t.Unsharded = append(t.Unsharded, ns)
			t.Sizes[ns] = topology.Sizes{NS: ns, At: webtest.Epoch, Shards: map[string]topology.Size{"shard-rs-2": webtest.Size(int64(1000*i), 10)}}
		}
		slices.Sort(t.Unsharded)
	}).View()
}

func TestAProjectOpensIntoItsCollections(t *testing.T) {
	s := webtest.New(t)
	doc := s.Page(t, "/matrix?by=projects")
	n := len(names(doc, "project"))
	must.That(t, n == answer.PageRows, "%d projects on a page", n)
	first := doc.Find("tr.project").First()
	total := first.Find("td").First()
	expect.That(t, strings.HasPrefix(strings.TrimSpace(total.Text()), "≥") || strings.HasPrefix(strings.TrimSpace(total.Text()), "≈"),
		"the size of the largest project is %q", total.Text())
	open := s.Page(t, first.Find(".fold").AttrOr("href", ""))
	expect.That(t, open.Find("tr.part").Length() == 2,
		"an open project has %d collections, not the two that exist", open.Find("tr.part").Length())
	others := doc.Find("tr.others")
	expect.That(t, others.Length() == 1 && strings.Contains(others.Text(), "180 others"), "the rest is %q", others.Text())
}

func TestProjectsOfThePastAreNotRecordedAndThePageSaysSo(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	at := "at=" + url.QueryEscape(answer.AtText(webtest.Epoch.Add(-10*time.Minute)))
	expect.Contains(t, s.Page(t, "/matrix?by=projects&"+at).Find("#live-matrix .state").Text(), "Not recorded", "the page says")
	expect.That(t, s.Page(t, "/matrix?"+at).Find("tr.collection").Length() != 0, "collections of the past are not shown")
	expect.Equal(t, s.Do("GET", "/api/v1/matrix?by=projects&"+at).Code, http.StatusNotFound, "JSON answers")
	for measure, want := range map[string]string{"writes": "not kept by shard", "reads": "Reads of past times are not kept"} {
		cell := s.Page(t, "/matrix?measure="+measure+"&"+at).Find("tr.collection td").First()
		expect.Contains(t, cell.AttrOr("title", ""), want, "%s of the past", measure)
	}
}

func TestWhatCannotBeAskedIsRefused(t *testing.T) {
	s := webtest.New(t)
	for _, query := range []string{"by=shards", "measure=x", "show=x", "sort=x", "order=x", "columns=x", "page=0", "internal=2",
		"open=%00", strings.Repeat("open=a&", 41)} {
		expect.Equal(t, s.Do("GET", "/matrix?"+query).Code, http.StatusBadRequest, "%.40s", query)
	}
	for _, query := range []string{"sort=on:none", "open=none", "page=999", "db=none", "q=%3Cscript%3E"} {
		w := s.Do("GET", "/matrix?"+query)
		expect.That(t, w.Code == http.StatusOK && !strings.Contains(w.Body.String(), "<script>"), "%s: %d", query, w.Code)
	}
}

// largest is a cluster of 100 shards and as many projects.
func largest(projects int) answer.View {
	story := webtest.NewStory()
	story.Shards = 100
	v := story.View()
	list := make([]placement.Project, projects)
	for i := range list {
		id := bson.ObjectID{4: byte(i >> 16), 5: byte(i >> 8), 6: byte(i), 11: 1}
		list[i] = placement.Project{DB: "yorkie-meta", ID: id, Name: fmt.Sprintf("project-%d", i)}
	}
	v.Dir = placement.NewDirectory(1, []string{"yorkie-meta"}, list, topology.Health{At: v.Now})
	v.Profile, v.HoldingsOf = profile.Yorkie(), webtest.CannedHoldings{}.Snapshot
	return v
}

func TestALargeClusterHasASmallTable(t *testing.T) {
	projects := 100_000
	if testing.Short() {
		projects = 5000
	}
	v := largest(projects)
	for _, q := range []spread.MatrixQuery{{Projects: true}, {Projects: true, Page: 1000}, {Projects: true, Sort: "name", Reverse: true}, {}} {
		table := spread.Matrix(v, spread.MatrixSource{}, q)
		expect.That(t, len(table.Rows) <= 300 && len(table.Columns) <= 20,
			"%s: %d rows, %d columns", q.URL(), len(table.Rows), len(table.Columns))
	}
	s := serve(t, v)
	n := s.Do("GET", "/matrix?by=projects").Body.Len()
	expect.That(t, n <= 256<<10, "the page of many projects has %d bytes", n)
}

func TestAStepOfARunThatWasNotSentIsPending(t *testing.T) {
	v := webtest.NewStory().View()
	c := v.Table.Collection(webtest.DocumentsNS)
	chunk := c.Chunks.At(1)
	to := "shard-rs-3"
	if chunk.Shard == to {
		to = "shard-rs-2"
	}
	step := engine.Step{State: engine.Planned, Step: operation.Step{Op: operation.OpMove, NS: webtest.DocumentsNS,
		Min: webtest.Must(c.Key.Document(chunk.Min)), Shard: to}}
	sent := step
	sent.Sent = v.Now
	moves := spread.PendingMoves(v, []engine.Run{{State: engine.Running, Steps: []engine.Step{step, sent}}})
	expect.That(t, len(moves) == 1 && moves[0].From == chunk.Shard && moves[0].To == to && !moves[0].Running, "pending: %+v", moves)
}
