package heat_test

import (
	"math"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/heat"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestHeatNamesTheHottestAndWhatASplitWouldDo(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), 2*time.Minute+5*time.Second, nil)
	doc := s.Page(t, "/heat")
	first := doc.Find(".hot tbody tr").First().Text()
	expect.ContainsAll(t, first, []string{"of the writes to changes on shard-rs-", "Yorkie document " + webtest.ProjectID(1000).Hex(),
		"would not help"}, "the first sentence")
	href := doc.Find(".hot tbody th a").First().AttrOr("href", "")
	expect.Equal(t, s.Do("GET", href).Code, http.StatusOK, "%s is no page", href)
	expect.ContainsAll(t, doc.Find(".measured").Text(), []string{"Every new row was counted", "120 of 120 s"}, "how it was measured")
	project := doc.Find("#heat-lists .halves table").First().Find("tbody tr").First()
	expect.That(t, strings.Contains(project.Text(), v.Dir.All()[0].Name) && strings.Contains(project.Text(), "all"),
		"hottest project: %s", project.Text())
	expect.That(t, doc.Find("#heat-table tbody tr").Length() != 0 && strings.Contains(doc.Find("#heat-lists .facts").Text(), "Gini"),
		"no table of the picture, or no skew")
	for _, path := range []string{"/heat?window=10s&by=project", "/heat?ns=yorkie-meta.changes&span=840h"} {
		w := s.Do("GET", path)
		expect.That(t, w.Code == http.StatusOK && len(w.Body.Bytes()) <= webtest.LargestPage, "%s: %d, %d bytes", path, w.Code, w.Body.Len())
	}
}

func TestHeatSaysWhatItDoesNotKnow(t *testing.T) {
	v := webtest.NewStory().View()
	denied := fault.New(fault.Forbidden, "Not permitted: find on yorkie-meta.changes.")
	busy := &webtest.Writes{}
	for i := range 1500 {
		busy.Rows = append(busy.Rows, heat.Count{Project: v.Dir.All()[i%9].ID, Document: webtest.ProjectID(5000 + i), Rows: 30})
	}
	unknown := webtest.NewStory().With(func(t *topology.Table) {
		t.Collections, t.Unsharded = nil, []topology.Namespace{}
	}).View()
	for name, c := range map[string]struct {
		site *webtest.Server
		want []string
		gone string
	}{
		"nothing counted yet": {webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), time.Second, nil), []string{"just begun"}, ".hot"},
		"not permitted": {webtest.NewHeatServer(t, v, &webtest.Writes{Fail: denied}, time.Minute, nil),
			[]string{"Counting writes is not permitted", "find on yorkie-meta.changes", "once writes can be counted"}, ".hot, .is-loading"},
		"failed since": {webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), 2*time.Minute,
			func(w *webtest.Writes) { w.Broke(fault.New(fault.Unavailable, "The cluster does not answer.")) }),
			[]string{"could not be counted", "does not answer", "The figures end at"}, ".is-loading"},
		"sampled": {webtest.NewHeatServer(t, v, busy, 3*time.Minute, nil), []string{"Counted in samples", "1 s in 10", "±"}, ""},
		"no collection": {webtest.NewHeatServer(t, unknown, &webtest.Writes{}, time.Minute, nil),
			[]string{"No collection whose writes can be counted"}, ".hot"},
		"no writes at all": {webtest.NewHeatServer(t, v, &webtest.Writes{}, 2*time.Minute, nil), []string{"No writes in this window"},
			".hot tbody tr"},
	} {
		w := c.site.Do("GET", "/heat")
		text := webtest.ParseHTML(t, w.Body.String())
		expect.ContainsAll(t, text.Find("main").Text(), c.want, "%s", name)
		expect.That(t, c.gone == "" || text.Find(c.gone).Length() == 0, "%s: %s is there", name, c.gone)
		expect.That(t, w.Code == http.StatusOK && !strings.Contains(text.Text(), "NaN") && !strings.Contains(text.Text(), "[heat."),
			"%s: %d", name, w.Code)
	}
}

func TestHeatIsOnThePagesOfHotSubjects(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.SkewedWrites(v), time.Minute, nil)
	link := s.Page(t, "/heat").Find(".hot tbody th a").First().AttrOr("href", "")
	for path, want := range map[string]string{
		"/collections/yorkie-meta.changes": "writes/s in the 5",
		link:                               "of the collection's",
		webtest.ChunkPath(v, "yorkie-meta.documents", 0): "",
	} {
		doc := s.Page(t, path)
		line := doc.Find(".head p:has(a[href^='/heat'])")
		expect.That(t, (want != "" || line.Length() == 0) && (want == "" || strings.Contains(line.Text(), want)),
			"%s says %q, want %q", path, line.Text(), want)
	}
}

func TestHeatWarnsOfAKeyThatOnlyGrows(t *testing.T) {
	v := webtest.NewStory().With(func(t *topology.Table) {
		for i, c := range t.Collections {
			if c.NS == webtest.ChangesNS {
				t.Collections[i] = webtest.CannedCollection(webtest.ChangesNS, bson.D{{Key: "_id", Value: 1}}, 3, 9)
			}
		}
	}).View()
	v.Table.Shards[0].Name = webtest.HostileName // owns none of the first three chunks or all: a name all the same
	src := webtest.SkewedWrites(v)
	s := webtest.NewHeatServer(t, v, src, 2*time.Minute, nil)
	w := s.Do("GET", "/heat")
	// The bubble's clock is at the year 2000: ids of then lie before every bound.
	if text := webtest.ParseHTML(t, w.Body.String()).Find("main").Text(); strings.Contains(text, "The shard key grows") ||
		!strings.Contains(text, "do not pile up") {
		t.Errorf("inserts into the first chunk: %.800s", text)
	}
	old := webtest.CannedCollection(webtest.ChangesNS, bson.D{{Key: "_id", Value: 1}}, 2, 9)
	rows := []topology.Chunk{old.Chunks.At(0), old.Chunks.At(1)}
	cut := webtest.Must(old.Key.KeyOf(placement.ObjectIDValue(bson.NewObjectIDFromTimestamp(time.Unix(900_000_000, 0)))))
	rows[0].Max, rows[1].Min, rows[1].Shard = cut, cut, "shard-rs-2"
	old.Chunks = webtest.Must(topology.BuildChunks(old.Key, rows))
	for i, c := range v.Table.Collections {
		if c.NS == webtest.ChangesNS {
			v.Table.Collections[i] = old
		}
	}
	s = webtest.NewHeatServer(t, v, src, 2*time.Minute, nil)
	text := s.Page(t, "/heat").Find(".state").Text()
	expect.ContainsAll(t, text, []string{"The shard key grows", "slices of time", "shard-rs-2"}, "no warning")
}

func TestHeatRefusesWhatItDoesNotHave(t *testing.T) {
	s := webtest.New(t)
	s.Watcher.Value = webtest.NewStory().View().Table
	for path, want := range map[string]int{
		"/heat?window=1s": 400, "/heat?window=x": 400, "/heat?span=5m": 400, "/heat?by=chunk": 400, "/heat?ns=no.such": 404,
		"/api/v1/heat/map?ns=no.such": 404, "/api/v1/heat/map?from=yesterday": 400, "/api/v1/heat/map?from=2h": 400, "/api/v1/heat/map?by=x": 400,
		"/api/v1/heat/map?from=2026-03-02T00:00:00Z&to=2026-03-01T00:00:00Z": 400, "/api/v1/heat/range?ns=no.such": 404,
		"/api/v1/heat/map?shard=nope": 404, "/api/v1/heat/map?shard=shard-rs-1": 200,
		"/api/v1/heat/map?by=project&shard=shard-rs-1": 400, "/api/v1/heat/map?by=project": 200,
		"/api/v1/heat/projects?ns=no.such": 404, "/api/v1/heat/documents?ns=no.such": 404, "/api/v1/heat/chunks?ns=no.such": 404,
		"/api/v1/heat/shards?ns=no.such":                      404,
		"/api/v1/heat/projects?ns=yorkie-meta.versionvectors": 404, "/api/v1/heat/projects?ns=yorkie-meta.documents": 200,
		"/api/v1/heat/range?ns=yorkie-meta.changes&min=zzz": 400, "/api/v1/heat/range?ns=yorkie-meta.changes&min=%7B%22x%22%3A1%7D": 400,
	} {
		expect.Equal(t, s.Do("GET", path).Code, want, "%s", path)
	}
}

func TestHeatMapCellsAreTheRatesThatWereCounted(t *testing.T) {
	v := webtest.NewStory().View()
	src := webtest.SkewedWrites(v)
	s := webtest.NewHeatServer(t, v, src, 3*time.Minute+5*time.Second, nil)
	var all float64
	for _, r := range src.Rows {
		all += float64(r.Rows) / 10
	}
	for _, by := range []string{"key", "project"} {
		m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map?by="+by))
		if m.NS != string(webtest.ChangesNS) || m.By != by || len(m.Columns) < 2 || len(m.Cells) != len(m.Rows) || len(m.Rows) == 0 || m.Stale {
			t.Fatalf("%s: %d columns, %d rows, %d cells, stale %v", by, len(m.Columns), len(m.Rows), len(m.Cells), m.Stale)
		}
		for i, col := range m.Columns {
			sum := 0.0
			for _, line := range m.Cells {
				if letter := strings.IndexByte(m.Scale.Letters, line[i]); letter >= 0 {
					sum += m.Scale.Least * math.Pow(m.Scale.Step, float64(letter))
				}
			}
			if ratio := sum / all; col.Seconds != 60 || ratio < 0.8 || ratio > 1.25 {
				t.Errorf("%s, %s: %.1f writes/s by letters, %.1f in truth", by, col.From, sum, all)
			}
		}
		shares := 0.0
		for _, r := range m.Rows {
			if shares += r.Share; r.Label == "" || by == "key" && !strings.Contains(r.Label+r.Detail, "chunk ") {
				t.Errorf("%s: a row is called %q, %q", by, r.Label, r.Detail)
			}
		}
		expect.That(t, math.Abs(shares-1) <= 0.001*float64(len(m.Rows)), "%s: all shares together are %.3f", by, shares)
		w := s.Do("GET", "/api/v1/heat/map?by="+by, webtest.Header("If-None-Match", m.Version))
		expect.That(t, w.Code == http.StatusNotModified && w.Body.Len() == 0, "asked again: %d, %d bytes", w.Code, w.Body.Len())
	}
	// Rows of a shard are all of its and no other's.
	whole := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map"))
	rows := 0
	for _, owner := range whole.Shards {
		m := webtest.Decode[api.HeatMap](t, s.Do("GET", "/api/v1/heat/map?shard="+url.QueryEscape(owner.Name)))
		rows += len(m.Rows)
		expect.That(t, len(m.Rows) == owner.Rows && m.Rows[0].Shard == owner.Name,
			"%s: %d rows, want %d", owner.Name, len(m.Rows), owner.Rows)
	}
	expect.That(t, rows == len(whole.Rows), "%d rows by shard, %d in all", rows, len(whole.Rows))
	for _, r := range whole.Rows {
		s.Page(t, answer.ChunkURL(webtest.ChangesNS, "."+r.Ref))
	}
}
