package web_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

// One time of the figures of writes is chosen in the head of a page: it is kept in links, named in sentences, and is
// that of the figures.
func TestOneWindowOfWritesIsChosenAndKept(t *testing.T) {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 4*time.Minute, func(w *webtest.Writes) { w.Rows = nil })
	chunks := "/collections/yorkie-meta.changes/chunks?limit=1000"
	total := func(window string) (sum float64) {
		for _, c := range webtest.Decode[api.List[api.Chunk]](t, s.Do("GET", "/api/v1"+chunks+window)).Items {
			if c.WritesPerSecond != nil {
				sum += *c.WritesPerSecond
			}
		}
		return sum
	}
	band := func(window string) api.MapTile {
		return webtest.Decode[api.MapTile](t, s.Do("GET", "/api/v1/map/yorkie-meta.changes/tile?"+window))
	}
	tile := func(window string) (most float64) {
		for _, peak := range band("marks=2000" + window).Marks.Peak {
			if peak != nil {
				most = max(most, *peak)
			}
		}
		return most
	}
	value := func(path string) func(string) float64 {
		return func(window string) float64 {
			return *webtest.Decode[struct{ Writes api.MatrixRate }](t, s.Do("GET", "/api/v1"+path+"?"+window)).Writes.Value
		}
	}
	project := "/projects/" + webtest.Decode[api.List[api.Project]](t, s.Do("GET", "/api/v1/projects?sort=writes")).Items[0].ID
	for name, of := range map[string]func(string) float64{"chunks": total, "map": tile, "shard": value("/shards/shard-rs-1"),
		"project": value(project)} {
		if minute, usual := of("&window=1m"), of(""); minute <= 0 || minute > 0.9*usual {
			t.Errorf("%s: after some seconds without writes %f/s in a minute, %f/s in five", name, minute, usual)
		}
	}
	for _, window := range []string{"1m", "17m"} { // offered by pages, and not
		first, usual := band("window="+window).Version, band("").Version
		again := band("marks=100&window=" + window).Version
		expect.That(t, first != usual && again == first, "versions of a band: %s, then %s, of the usual time %s", first, again, usual)
	}
	chunk := webtest.ChunkPath(v, "yorkie-meta.changes", 0)
	for _, c := range []struct{ path, says string }{
		{chunk + "?window=15m", "15 min before"},
		{"/matrix?measure=writes&window=15m", "in the last 15 min"},
		{"/shards/shard-rs-1/why?by=writes&window=15m", "over up to 15 min"},
		{"/projects?window=15m", "Writes are of the last 15 min"},
		{"/map?by=heat&window=15m", "writes to the hottest chunk in the last 15 min"},
		{"/shards/shard-rs-1?window=15m", "in the last 15 min before"},
		{project + "?window=15m", "writes/s in the 15 min before"},
	} {
		page := s.Page(t, c.path)
		expect.Contains(t, page.Find("main").Text(), c.says, "%s", c.path)
		got := page.Find(".windows [aria-current]").Text()
		expect.That(t, got == "15\u202fmin" || got == "15 min", "%s: %q is chosen", c.path, got)
		to, _ := page.Find(".windows a").Eq(1).Attr("href")
		expect.Lacks(t, to, "window=", "%s: the usual time leads to", c.path)
		page.Find("main [id][data-live]").Each(func(_ int, x *goquery.Selection) {
			own, _ := x.Attr("data-live-url")
			expect.Contains(t, own, "window=15m", "%s: the region is read again from", c.path)
		})
		kept, lost := false, false
		page.Find("nav a, main a").Each(func(_ int, x *goquery.Selection) {
			to, _ := x.Attr("href")
			kept = kept || strings.HasPrefix(to, "/heat?") && strings.Contains(to, "window=15m")
			lost = lost || strings.HasPrefix(to, "/runs") && strings.Contains(to, "window")
		})
		expect.That(t, kept && !lost, "%s: kept %v, also where it means nothing %v", c.path, kept, lost)
	}
	expect.Equal(t, s.Do("GET", chunk+"?window=5y").Code, 400, "five years")
	page := s.Page(t, "/zones")
	expect.That(t, page.Find(".windows").Length() == 0, "a page without figures of writes offers times of them")
}

// A time that is chosen on one page leads to the same time on the others that have one, and nowhere else. Links that
// choose a time of their own, and those to the newest, are left alone.
func TestLinksKeepTheChosenTime(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	timed := []string{"/activity", "/heat", "/advice/past", "/postmortem"}
	for _, path := range timed {
		doc := s.Page(t, path+"?last=1d")
		for _, to := range timed {
			want := to + "?last=1d"
			if to == path || doc.Find("nav a[href^='"+to+"'], #menu a[href^='"+to+"']").Length() == 0 {
				continue
			}
			expect.That(t, doc.Find("a[href='"+want+"']").Length() != 0, "%s does not lead to %s", path, want)
		}
		n := doc.Find("a[href^='/zones?last'], a[href*='from='][href*='last='], a[href*='to='][href*='last=1d&']").Length()
		expect.That(t, n == 0, "%s: %d links have a time that is not theirs", path, n)
	}
	newest := s.Page(t, "/activity?last=1d").Find(".presets a").First().AttrOr("href", "")
	expect.Lacks(t, newest, "last=", "the address of the newest entries")
	for _, path := range append(timed, "/api/v1/activity") {
		w := s.Do("GET", path+"?last=3d")
		expect.That(t, w.Code == http.StatusBadRequest || w.Code == http.StatusOK, "%s: %d", path, w.Code)
	}
}
