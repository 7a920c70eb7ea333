package heat_test

import (
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/answer/writes"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestHeatOfChunksSaysWhetherACutHelps(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 2*time.Minute+5*time.Second, nil)
	page := s.Page(t, "/heat")
	items := webtest.HeatListOf(t, s, "chunks?limit=1000&ns=yorkie-meta.changes").Items
	codes := map[string]bool{}
	for i, l := range items {
		expect.That(t, l.CanSplit != nil && *l.CanSplit && l.Why != "" && !strings.Contains(l.Why, "[heat."), "%s: %s", l.ID, l.Why)
		expect.That(t, i >= writes.ShownHot || page.Find(".hot tbody tr").Eq(i).Find(".why").Text() == l.Why,
			"%d: the page says another thing than %q", i, l.Why)
		codes[l.Split] = true
	}
	first := items[0]
	expect.That(t, first.Split == "document" && strings.Contains(first.Why, webtest.ProjectID(1000).Hex()) &&
		strings.Contains(first.Why, "would not help"), "%s: %s", first.Split, first.Why)
	expect.That(t, codes["divides"], "no chunk of several documents: %v", slices.Collect(maps.Keys(codes)))
	for _, l := range webtest.HeatListOf(t, s, "projects").Items {
		expect.That(t, l.CanSplit == nil && l.Split == "" && l.Why == "", "a project is no chunk: %+v", l)
	}
}

func TestProjectsByShardAddUpToProjectsAndToShards(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 2*time.Minute+5*time.Second, nil)
	ofProject, onShard, shares := map[string]float64{}, map[string]float64{}, map[string]float64{}
	lines := webtest.HeatListOf(t, s, "project-shards?limit=1000").Items
	for _, l := range lines {
		ofProject[l.ID] += l.WritesPerSecond
		onShard[l.Shard] += l.WritesPerSecond
		shares[l.ID] += *l.ProjectShare
		expect.That(t, l.ShardShare != nil && l.Name != "", "%+v", l)
	}
	near := func(a, b float64) bool { return math.Abs(a-b) < 1e-6 }
	projects := webtest.HeatListOf(t, s, "projects?limit=1000").Items
	for _, p := range projects {
		expect.That(t, near(ofProject[p.ID], p.WritesPerSecond) && near(shares[p.ID], 1),
			"%s: %f by shard, %f in all; shares add up to %f", p.Name, ofProject[p.ID], p.WritesPerSecond, shares[p.ID])
	}
	for _, x := range webtest.HeatListOf(t, s, "shards").Items {
		expect.That(t, near(onShard[x.Shard], x.WritesPerSecond),
			"%s: %f by project, %f in all", x.Shard, onShard[x.Shard], x.WritesPerSecond)
	}
	expect.That(t, len(lines) > len(projects), "%d lines of %d projects: no project writes to two shards", len(lines), len(projects))
	page := s.Page(t, "/heat")
	rows := page.Find("#project-shards ~ table").First().Find("tbody tr")
	expect.That(t, rows.Length() != 0 && rows.Length() <= writes.ShownHot, "the page lists %d", rows.Length())
}

func TestReadsAreListedByShardAndCollection(t *testing.T) {
	v := webtest.NewStory().View()
	src := func() *webtest.Writes {
		w := webtest.WritesToSeveral(v)
		w.Shards, w.ReadsEach = []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}, 60
		return w
	}
	s := webtest.NewHeatServer(t, v, src(), 2*time.Minute+5*time.Second, nil)
	list := webtest.Decode[api.List[api.HeatOperations]](t, s.Do("GET", "/api/v1/heat/operations?limit=1000")).Items
	shares, shards := map[string]float64{}, webtest.HeatListOf(t, s, "shards").Items
	for _, x := range list {
		must.That(t, x.ReadsPerSecond != nil && x.ReadShare != nil && x.ReadMillis != nil && x.From != nil, "%+v", x)
		shares[x.Shard] += *x.ReadShare
	}
	for _, x := range shards {
		expect.That(t, math.Abs(shares[x.Shard]-1) <= 1e-6, "the shares of %s add up to %f", x.Shard, shares[x.Shard])
	}
	one := list[0]
	some := webtest.Decode[api.List[api.HeatOperations]](t, s.Do("GET", "/api/v1/heat/operations?shard="+one.Shard+"&ns="+one.NS)).Items
	expect.That(t, len(some) == 1 && some[0].NS == one.NS, "of one shard and collection: %+v", some)
	shard := webtest.Decode[api.ShardDetail](t, s.Do("GET", "/api/v1/shards/"+one.Shard))
	reads, most := 0.0, 0.0
	for _, x := range list {
		if x.Shard == one.Shard {
			reads, most = reads+*x.ReadsPerSecond, max(most, *x.ReadShare)
		}
	}
	if o := shard.Operations; o.ReadMillis == nil || math.Abs(*o.ReadsPerSecond-reads) > 1e-6 || *o.ReadShare != most {
		t.Errorf("the shard's operations %+v, of its collections %f reads/s, at most %f", o, reads, most)
	}
	for path, says := range map[string][]string{"/heat": {"which project reads is not known"}, "/shards/" + one.Shard: {
		"which project reads is not known", "Read operations", format.PerSecond(reads) + "/s, ",
		format.Share(most) + " of them in " + topology.Namespace(shard.Operations.MostRead).Collection(),
		"of all counted, in the last 5 min before"}} {
		text := s.Page(t, path).Find("main").Text()
		expect.ContainsAll(t, text, says, "%s", path)
	}
	begun := webtest.NewHeatServer(t, v, src(), 15*time.Second, nil)
	later := begun.Do("GET", "/api/v1/heat/operations")
	known := func(x api.HeatOperations) bool { return x.ReadsPerSecond != nil || x.WriteMillis != nil }
	got := webtest.Decode[api.List[api.HeatOperations]](t, later).Items
	expect.That(t, !slices.ContainsFunc(got, known), "counters that were read once: %+v", got)
}

func TestAnEmptyHeatListTellsNothingWrittenFromNothingCounted(t *testing.T) {
	v := webtest.NewStory().View()
	bare := webtest.NewStory().With(func(t *topology.Table) { t.Collections, t.Unsharded = nil, []topology.Namespace{} }).View()
	denied, slow := fault.New(fault.Forbidden, "Not permitted: find."), fault.New(fault.Unavailable, "Too slow.")
	for name, c := range map[string]struct {
		site        *webtest.Server
		query       string
		reason, why string
	}{
		"just begun": {webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), time.Second, nil), "", "begun", "first 10 s"},
		"of changed rows": {webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), 40*time.Second, nil), "?ns=yorkie-meta.documents", "begun",
			"at the end of each minute"},
		"not permitted": {webtest.NewHeatServer(t, v, &webtest.Writes{Fail: denied}, time.Minute, nil), "", "denied", "Not permitted: find."},
		"fails":         {webtest.NewHeatServer(t, v, &webtest.Writes{Fail: slow}, time.Minute, nil), "", "failed", "Too slow."},
		"no collection": {webtest.NewHeatServer(t, bare, &webtest.Writes{}, time.Minute, nil), "", "noCollection",
			"No collection whose writes"},
		"nothing written": {webtest.NewHeatServer(t, v, &webtest.Writes{}, 2*time.Minute+5*time.Second, nil), "", "", ""},
		"none in snapshot": {webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), 2*time.Minute+5*time.Second, nil), "?ns=yorkie-meta.snapshots",
			"", ""},
	} {
		for _, what := range []string{"projects", "documents", "chunks"} {
			l := webtest.HeatListOf(t, c.site, what+c.query)
			expect.That(t, len(l.Items) == 0 && l.Window == "5m0s" && l.Reason == c.reason && strings.Contains(l.Why, c.why) &&
				(l.Why == "") == (l.Reason == "") && !strings.Contains(l.Why, "[heat."), "%s: %s: %+v", name, what, l)
			known := c.reason == ""
			expect.That(t, known == (l.AsOf != nil) && known == (l.From != nil) && known == (l.To != nil) && known == (l.CoveredSeconds == 120) &&
				known != l.Stale, "%s: %s: %+v", name, what, l)
		}
	}
	// A list of what was counted has the time of its last count, not that of the question.
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), 2*time.Minute, func(w *webtest.Writes) { w.Broke(slow) })
	l := webtest.HeatListOf(t, s, "projects")
	expect.That(t, len(l.Items) != 0 && l.Stale && l.Reason == "" && l.AsOf.Equal(*l.To) && s.Deps.Now().Sub(*l.AsOf) >= 20*time.Second,
		"failed since: %+v at %s", l, s.Deps.Now())
}

// crowded gives another document on the shard of the hottest one as many writes, so that a move of one
// of the two helps.
func crowded(t *testing.T, v answer.View, src *webtest.Writes) *webtest.Writes {
	t.Helper()
	c := v.Table.Collection(webtest.ChangesNS)
	chunkOf := func(document bson.ObjectID) int {
		r, err := c.Key.PrefixRange(placement.ObjectIDValue(document))
		must.Do(t, err)
		from, _ := c.Chunks.Overlap(r)
		return from
	}
	hottest := chunkOf(src.Rows[0].Document)
	for i, row := range src.Rows {
		if at := chunkOf(row.Document); at != hottest && c.Chunks.Owner(at) == c.Chunks.Owner(hottest) {
			src.Rows[i].Rows = src.Rows[0].Rows
			return src
		}
	}
	t.Fatal("no other document is on the shard of the hottest")
	return nil
}

func TestHotChunkLinksAMoveToTheShardWithFewestWrites(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, crowded(t, v, webtest.SkewedWrites(v)), 2*time.Minute+5*time.Second, nil)
	shards := webtest.HeatListOf(t, s, "shards").Items
	least := shards[len(shards)-1].ID
	link := s.Page(t, "/heat").Find(".hot tbody tr").First().Find("a.plan")
	to, err := url.Parse(link.AttrOr("href", ""))
	must.That(t, err == nil && to.Query().Get("kind") == "move" && to.Query().Get("to") == least && to.Query().Get("chunk") != "" &&
		strings.Contains(link.Text(), least), "%q leads to %s; %s is written least", link.Text(), to, least)
	w := s.Do("GET", to.String())
	expect.That(t, w.Code == http.StatusOK && strings.Contains(w.Body.String(), least) &&
		strings.Contains(webtest.ParseHTML(t, w.Body.String()).Find("#reason").AttrOr("value", ""), " writes/s."), "%s: %d", to, w.Code)
	for _, l := range s.Page(t, "/heat").Find(".hot tbody tr").EachIter() {
		takes := l.Find(".helps").Text()
		stays, moves := strings.Contains(takes, "A move would only heat another shard"), strings.Contains(takes, "Plan to move it to "+least)
		undivided, its := strings.Contains(takes, "would not help"), strings.Contains(takes, " on "+least+": ")
		if strings.Contains(takes, ": 0.") { // below 1 write/s nothing is planned
			expect.That(t, !moves, "a plan for next to no writes: %s", takes)
			continue
		}
		expect.That(t, undivided == (stays || moves) && (!stays || !moves) && (!moves || !its), "%s is written least: %s", least, takes)
	}
	s.Deps.Changes.Actions = nil
	n := s.Page(t, "/heat").Find(".hot a.plan").Length()
	expect.That(t, n == 0, "%d plans where nothing can be changed", n)
}

func TestCalmestShardHasToBeAllowedToOwnTheChunk(t *testing.T) {
	rates := map[string]float64{"shard-rs-1": 9, "shard-rs-2": 3, "shard-rs-3": 1}
	owned := func(c *topology.Collection, by string) int {
		for i := range c.Chunks.Len() {
			if c.Chunks.Owner(i) == by {
				return i
			}
		}
		t.Fatal("nothing is owned by " + by)
		return -1
	}
	for name, c := range map[string]struct {
		owner  string
		rate   float64 // of the chunk
		change func(*topology.Table, *topology.Collection)
		rates  map[string]float64
		want   string
	}{
		"least written":       {"shard-rs-1", 2, nil, rates, "shard-rs-3"},
		"would be as hot":     {"shard-rs-1", 8, nil, rates, "shard-rs-1"},
		"it is the calmest":   {"shard-rs-3", 1, nil, rates, "shard-rs-3"},
		"nothing was counted": {"shard-rs-1", 2, nil, nil, ""},
		"being emptied": {"shard-rs-1", 2, func(t *topology.Table, _ *topology.Collection) { t.Shard("shard-rs-3").Draining = true },
			rates, "shard-rs-2"},
		"resharding":         {"shard-rs-1", 2, func(_ *topology.Table, c *topology.Collection) { c.Resharding = true }, rates, ""},
		"migrations blocked": {"shard-rs-1", 2, func(_ *topology.Table, c *topology.Collection) { c.MigrationsBlocked = true }, rates, ""},
		"zone": {"shard-rs-1", 2, func(t *topology.Table, c *topology.Collection) {
			t.Shard("shard-rs-2").Zones = append(t.Shard("shard-rs-2").Zones, "eu")
			t.Zones = append(t.Zones, topology.ZoneRange{NS: c.NS, Zone: "eu", Min: c.Key.Min(), Max: c.Key.Max()})
		}, rates, "shard-rs-2"},
	} {
		v := webtest.NewStory().View()
		col := v.Table.Collection(webtest.ChangesNS)
		if c.change != nil {
			c.change(v.Table, col)
		}
		expect.Equal(t, writes.Calmest(v.Table, col, owned(col, c.owner), c.rate, c.rates), c.want, "%s", name)
	}
}

func TestHeatTellsThePeriodOfCountersAndDatedRows(t *testing.T) {
	v := webtest.NewStory().View()
	src := webtest.SkewedWrites(v)
	for _, s := range v.Table.Shards {
		src.Shards = append(src.Shards, s.Name)
	}
	s := webtest.NewHeatServer(t, v, src, 3*time.Minute+5*time.Second, nil)
	for _, window := range []string{"10s", "24h"} {
		for _, l := range webtest.HeatListOf(t, s, "shards?ns=yorkie-meta.changes&window="+window).Items {
			must.That(t, l.OperationsFrom != nil && l.OperationsTo != nil && l.OperationsTo.Sub(*l.OperationsFrom) == 30*time.Second &&
				!l.OperationsTo.After(s.Deps.Now()), "%+v", l)
			if per := 10 / l.OperationsTo.Sub(*l.OperationsFrom).Seconds(); *l.WriteOperationsPerSecond != per {
				t.Errorf("%g operations/s, %g in its time", *l.WriteOperationsPerSecond, per)
			}
		}
		updated := webtest.HeatListOf(t, s, "projects?window="+window).Items[0].Updated
		must.That(t, len(updated) != 0, "no row changed in place")
		for _, u := range updated {
			expect.That(t, u.From != nil && u.To != nil && u.To.Sub(*u.From) == time.Minute && float64(u.Rows)/60 == u.AtLeastRowsPerSecond,
				"%+v", u)
		}
	}
	src.Shards = nil
	unread := webtest.NewHeatServer(t, v, src, time.Minute, nil)
	for _, l := range webtest.HeatListOf(t, unread, "shards").Items {
		expect.That(t, l.OperationsFrom == nil && l.WriteOperationsPerSecond == nil, "counters that were never read: %+v", l)
	}
}
