package heat_test

import (
	"math"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestHeatWithoutACollectionIsTheSumOfThoseCountedWhole(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 3*time.Minute+5*time.Second, nil)
	list := func(what, query string) []api.Heat {
		return webtest.Decode[api.List[api.Heat]](t, s.Do("GET", "/api/v1/heat/"+what+"?limit=1000"+query)).Items
	}
	for _, what := range []string{"projects", "documents", "shards"} {
		all := list(what, "")
		of := map[string]float64{} // by collection's own list
		for _, ns := range []string{"changes", "snapshots", "revisions", "schemas"} {
			for _, l := range list(what, "&ns=yorkie-meta."+ns) {
				of[l.ID] += l.WritesPerSecond
				expect.That(t, l.NS == "yorkie-meta."+ns && l.Counts == "newRows" && l.Parts == nil, "%s of %s: %+v", what, ns, l)
			}
		}
		ids, shares := map[string]bool{}, 0.0
		for _, l := range all {
			parts := 0.0
			for _, p := range l.Parts {
				parts += p.WritesPerSecond
			}
			if ids[l.ID] || math.Abs(l.WritesPerSecond-of[l.ID]) > 1e-9 || math.Abs(parts-l.WritesPerSecond) > 1e-9 || len(l.Parts) == 0 ||
				l.NS != l.Parts[0].NS || l.Window != "5m0s" || l.From == nil {
				t.Errorf("%s: %+v, its collections take %v", what, l, of[l.ID])
			}
			ids[l.ID] = true
			shares += l.Share
		}
		expect.That(t, len(all) != 0 && math.Abs(shares-1) <= 1e-9 &&
			slices.IsSortedFunc(all, func(a, b api.Heat) int { return int(math.Copysign(1, b.WritesPerSecond-a.WritesPerSecond)) }),
			"%s: %d items, shares are %.3f", what, len(all), shares)
	}
	// A chunk is one collection's, and its part of a shard is of that collection.
	byShard := map[string]float64{}
	for _, l := range list("chunks", "") {
		byShard[l.NS+" "+l.Shard] += *l.ShardShare
	}
	expect.That(t, len(byShard) >= 4, "%v", byShard)
	for name, share := range byShard {
		expect.That(t, math.Abs(share-1) <= 1e-9, "chunks take %.3f of %s", share, name)
	}
}

func TestHeatOfChangedRowsIsALowerBound(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 4*time.Minute+5*time.Second, nil)
	for _, ns := range []string{"yorkie-meta.documents", "yorkie-meta.clients"} {
		m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map?ns="+ns))
		want := (api.HeatMethod{Counts: "changedRows", Of: "hottestProjects", Projects: 10, LowerBound: true,
			EverySeconds: 60})
		expect.That(t, m.Method == want && m.NS == ns && !m.Stale, "%s: %+v, stale %v", ns, m.Method, m.Stale)
		must.That(t, len(m.Columns) >= 3, "%s: %d columns", ns, len(m.Columns))
		for i, col := range m.Columns {
			known := 0
			for _, line := range m.Cells {
				expect.That(t, line[i] != '.', "%s: a cell says that nothing was changed", ns)
				if line[i] != '-' {
					known++
				}
			}
			if !col.Hottest || !col.AtLeast || col.Seconds != 60 || ns == "yorkie-meta.documents" && (known == 0 || known == len(m.Rows)) {
				t.Errorf("%s: %+v, %d of %d rows known", ns, col, known, len(m.Rows))
			}
		}
		items := webtest.Decode[api.List[api.Heat]](t, s.Do("GET", "/api/v1/heat/projects?ns="+ns)).Items
		must.That(t, len(items) == 7, "%s: %d projects", ns, len(items))
		for _, l := range items {
			expect.That(t, l.Counts == "changedRows" && l.AtLeast && !l.Exact && l.NS == ns, "%+v", l)
		}
		doc := s.Page(t, "/heat?ns="+ns)
		text := doc.Find("main").Text()
		expect.ContainsAll(t, text, []string{"Lower bounds, of the hottest projects only", "changed rows/s", "≥",
			"a cell is a lower bound, and an empty one is not known"}, "%s", ns)
		expect.LacksAll(t, text, []string{"Gini", "Hottest Yorkie documents", "[heat."}, "%s judges by a part of the projects", ns)
		cells := doc.Find("#heat-table tbody td").Text()
		expect.That(t, ns != "yorkie-meta.documents" || strings.Contains(cells, "≥"), "%s: the table says %q", ns, cells)
	}
	// What is asked without a collection is of new rows.
	m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map"))
	expect.That(t, m.NS == string(webtest.ChangesNS) && !m.Method.LowerBound && m.Method.Of == "allProjects", "%s %+v", m.NS, m.Method)
	r := webtest.Decode[api.HeatRange](t, s.Do("GET", "/api/v1/heat/range"))
	expect.That(t, r.NS == string(webtest.ChangesNS) && r.Method.Counts == "newRows", "%s %+v", r.NS, r.Method)
	line := s.Page(t, "/collections/yorkie-meta.documents").Find(".head p:has(a[href^='/heat'])").Text()
	expect.That(t, strings.Contains(line, "≥") && strings.Contains(line, "hottest projects only"), "the collection's page says %q", line)
}

func TestHeatOffersWhatIsCountedAndSaysWhyTheRestIsNot(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), time.Minute, nil)
	doc := s.Page(t, "/heat")
	var offered []string
	for _, n := range doc.Find(".heatchoices select[name=ns] option").EachIter() {
		offered = append(offered, strings.TrimPrefix(n.Text(), "yorkie-meta."))
		expect.Equal(t, s.Do("GET", "/heat?ns="+n.AttrOr("value", "")).Code, http.StatusOK, "%s", n.Text())
	}
	want := []string{"changes", "revisions", "schemas", "snapshots", "clients", "documents"}
	expect.That(t, slices.Equal(offered, want), "offered %v", offered)
	rest := doc.Find(".uncounted").Text()
	expect.ContainsAll(t, rest, []string{"2 collections are not counted", "yorkie-meta.versionvectors Its rows are changed in place",
		"yorkie-meta.snapshot_bodies It is not sharded"}, "the rest of the page")
	own := *s.Watcher.Get()
	own.Collections = append([]*topology.Collection{{Meta: topology.Meta{NS: webtest.SessionsNS}}}, own.Collections...)
	s.Watcher.Publish(&own)
	text := s.Page(t, "/heat").Find("#heat-lists").Text()
	expect.That(t, strings.Contains(text, "1 internal collection is hidden.") && !strings.Contains(text, string(webtest.SessionsNS)),
		"%s", text)
	text = s.Page(t, "/heat?internal=1").Find(".uncounted").Text()
	expect.That(t, strings.Contains(
		text,
		"3 collections are not counted",
	) && strings.Contains(text, "config.system.sessions writes of the server's own"), "%s", text)
	w := s.Do("GET", "/heat?ns=yorkie-meta.versionvectors")
	expect.That(t, w.Code == http.StatusNotFound && strings.Contains(w.Body.String(), "changed in place and have no date"),
		"%d: %.300s", w.Code, w.Body)
}
