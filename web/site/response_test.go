package site_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

var zeroHealth topology.Health

func TestOnlyTheClustersRefusalsAreBlamedOnItsUser(t *testing.T) {
	const blame = "The cluster user lacks a privilege"
	s := webtest.New(t, webtest.WithPeople)
	for name, w := range map[string]*httptest.ResponseRecorder{
		"a role":                 s.Do("GET", "/settings/users", webtest.As("anna", auth.Viewer)),
		"a form of another site": s.Do("POST", "/logout", webtest.As("anna", auth.Viewer), webtest.Header("Sec-Fetch-Site", "cross-site")),
	} {
		text := webtest.ParseHTML(t, w.Body.String()).Find("main").Text()
		expect.That(t, w.Code == http.StatusForbidden && !strings.Contains(text, blame) && !strings.Contains(text, "cluster user"),
			"%s: %d %q", name, w.Code, text)
	}
	s.Locator.Answer = func(placement.Query) ([]placement.Item, error) {
		return nil, fault.Wrap(fault.Forbidden, &topology.DeniedError{Privilege: "find on yorkie-meta.projects"},
			"It lacks find on yorkie-meta.projects.")
	}
	w := s.Do("GET", "/locate?q=x", webtest.As("anna", auth.Support))
	expect.Contains(t, w.Body.String(), "find on yorkie-meta.projects", "%d", w.Code)
	out := httptest.NewRecorder()
	_, denied := s.Locator.Answer(placement.Query{})
	s.WriteErrorPage(out, httptest.NewRequest("GET", "/zones", nil), denied)
	expect.That(t, out.Code == http.StatusForbidden && strings.Contains(out.Body.String(), blame),
		"a refusal of the cluster: %d %s", out.Code, out.Body)
}

func TestMalformedInputIsRefusedWithASentence(t *testing.T) {
	s := webtest.New(t)
	for _, address := range []string{
		"/shards/%00", "/shards/%ff", "/shards/a%00b", "/collections/" + strings.Repeat("a", 513), "/api/v1/shards/%c0%af",
		"/api/v1/collections/" + strings.Repeat("%C3%A4", 300),
		"/projects/xyz", "/api/v1/projects/xyz", "/api/v1/projects/65e0", "/api/v1/collections/nodot", "/api/v1/projects?q=%00",
		"/api/v1/projects?q=%ff", "/api/v1/projects?q=" + strings.Repeat("a", 4097),
		"/projects?q=" + strings.Repeat("a", 10<<10), "/api/v1/projects?q=%zz", "/api/v1/projects?q=a;b", "/locate?q=%00",
		"/api/v1/shards?limit=0", "/api/v1/shards?limit=1001", "/api/v1/shards?limit=x",
		"/api/v1/shards?cursor=!", "/api/v1/collections/yorkie-meta.documents/chunks?cursor=zzz",
		"/api/v1/collections/yorkie-meta.documents/chunks?jumbo=maybe",
		"/api/v1/collections/yorkie-meta.documents/chunks?key=nojson",
		"/api/v1/collections/yorkie-meta.documents/chunks?key={%22other%22:1}", "/api/v1/collections/yorkie-meta.documents/chunks?from=[1]",
		"/api/v1/collections/yorkie-meta.documents/chunks?from={}&key={}", "/api/v1/collections/yorkie-meta.documents/map?level=21",
		"/api/v1/collections/yorkie-meta.documents/map?level=2&index=4",
		"/api/v1/collections/yorkie-meta.documents/map?level=-1", "/api/v1/locate?q=a&ns=b.c&key=1", "/live", "/live?t=",
		"/live?t=nothing", "/live?t=project:xyz", "/live?t=overview:x", "/live?t=%00",
		"/live?t=" + strings.Repeat("overview,", 3) +
			"shard:1,shard:2,shard:3,shard:4,shard:5,shard:6,shard:7,shard:8,shard:9,shard:10,shard:11,shard:12,shard:13,shard:14,shard:15,shard:16",
		"/live?t=shard:" + strings.Repeat("a", 600), "/live?t=a%2525zz",
	} {
		w := s.Do("GET", address)
		expect.That(t, w.Code == http.StatusBadRequest, "%.80s: %d %.200s", address, w.Code, w.Body)
		if strings.HasPrefix(address, "/api/") {
			webtest.CheckProblem(t, w, address)
		}
	}
}

func TestBodiesAreBounded(t *testing.T) {
	w := webtest.New(t).Do("POST", "/api/v1/locate", webtest.Body(strings.Repeat("x\n", answer.MaxLocate)))
	expect.Equal(t, w.Code, http.StatusRequestEntityTooLarge, "too long")
	webtest.CheckProblem(t, w, "/api/v1/locate")
}

func TestAnswersAreCompressedAndTagged(t *testing.T) {
	s := webtest.New(t)
	server := httptest.NewServer(s.Handler())
	defer server.Close()
	get := func(path string, change ...func(*http.Request)) *http.Response {
		t.Helper()
		r := must.Get(http.NewRequestWithContext(context.Background(), "GET", server.URL+path, nil))
		for _, f := range change {
			f(r)
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		must.Do(t, err)
		_, _ = io.Copy(io.Discard, res.Body)
		_ = res.Body.Close()
		return res
	}
	for _, path := range []string{"/", "/collections/yorkie-meta.documents", "/api/v1/cluster",
		"/api/v1/collections/yorkie-meta.documents/chunks", "/shards/shard-rs-1.csv"} {
		plain := get(path, webtest.Header("Accept-Encoding", "identity"))
		small := get(path, webtest.Header("Accept-Encoding", "br, gzip"))
		expect.That(t, small.Header.Get("Content-Encoding") == "gzip" && plain.Header.Get("Content-Encoding") == "" &&
			small.ContentLength*2 <= plain.ContentLength, "%s: %d plain, %d compressed", path, plain.ContentLength, small.ContentLength)
		expect.Contains(t, strings.Join(small.Header.Values("Vary"), ","), "Accept-Encoding", "%s", path)
		tag := small.Header.Get("ETag")
		must.That(t, strings.HasPrefix(tag, `W/"`), "%s: tag %q", path, tag)
		again := get(path, webtest.Header("If-None-Match", `"x", `+tag))
		expect.That(t, again.StatusCode == http.StatusNotModified && again.ContentLength <= 0, "%s again: %d", path, again.StatusCode)
		s.Watcher.Publish(webtest.CannedTable(s.Watcher.Get().Seq+1, 250))
		expect.Equal(t, get(path, webtest.Header("If-None-Match", tag)).StatusCode, http.StatusOK, "%s after a change", path)
	}
	expect.Equal(t, get("/locate?q=a").Header.Get("ETag"), "", "locate asks the cluster and has the tag")
}

func TestTagsOfAProcessAreItsOwn(t *testing.T) {
	tag := func(now time.Time, address string) string {
		s := webtest.New(t, func(d *site.Deps) { d.Now, d.Version = func() time.Time { return now }, `v1, "x"` })
		w := s.Do("GET", address)
		got := w.Header().Get("ETag")
		again := s.Do("GET", address, webtest.Header("If-None-Match", got))
		expect.Equal(t, again.Code, http.StatusNotModified, "%s is not its own tag", got)
		return got
	}
	first := tag(webtest.Epoch, "/zones")
	expect.That(t, first != tag(webtest.Epoch.Add(time.Second), "/zones"), "the same tag after a restart")
	expect.That(t, first != tag(webtest.Epoch, "/activity"), "two addresses share a tag")
}

func TestReadyOnlyOnceTableAndProjectsAreLoaded(t *testing.T) {
	s := webtest.New(t)
	table, dir := s.Watcher.Get(), s.Keeper.Get()
	empty := *table
	empty.Loaded = false
	for _, c := range []struct {
		name   string
		ready  bool
		change func()
	}{
		{"nothing", false, func() { s.Watcher.Publish(&empty); s.Keeper.Publish(placement.NewDirectory(0, nil, nil, zeroHealth)) }},
		{"table", false, func() { s.Watcher.Publish(table) }},
		{"both", true, func() { s.Keeper.Publish(dir) }},
	} {
		c.change()
		w := s.Do("GET", "/readyz")
		var got api.Ready
		err := json.Unmarshal(w.Body.Bytes(), &got)
		expect.That(t, err == nil && got.Ready == c.ready && (w.Code == 200) == c.ready && (got.Reason == "") == c.ready,
			"%s: %d %s", c.name, w.Code, w.Body)
		expect.Equal(t, s.Do("GET", "/healthz").Code, 200, "%s: healthz", c.name)
		w = s.Do("GET", "/api/v1/projects")
		expect.Equal(t, w.Code == 200, c.ready, "%s: projects %d", c.name, w.Code)
		for _, address := range []string{"/", "/collections", "/projects", "/zones", "/activity", "/locate"} {
			expect.Equal(t, s.Do("GET", address).Code, 200, "%s: %s", c.name, address)
		}
	}
}

// A right that is missing does not come by itself: what may be read is all that there is to show.
func TestReadyWithoutProjectsThatCannotBeRead(t *testing.T) {
	for name, c := range map[string]struct {
		health              topology.Health
		ready, evenRequired bool
	}{
		"not read yet":  {topology.Health{}, false, false},
		"not permitted": {webtest.ReachedWithoutRights, true, true},
		"failed":        {topology.Health{Err: fault.New(fault.Unavailable, "It does not answer.")}, true, false},
	} {
		s := webtest.New(t)
		s.Keeper.Publish(placement.NewDirectory(0, nil, nil, c.health))
		for query, ready := range map[string]bool{"": c.ready, "?cluster=required": c.evenRequired} {
			w := s.Do("GET", "/readyz"+query)
			expect.That(t, (w.Code == 200) == ready && strings.Contains(w.Body.String(), "projects are not loaded"),
				"%s%s: %d %s", name, query, w.Code, w.Body)
		}
	}
}

func TestMetricsNameRoutesByPattern(t *testing.T) {
	s := webtest.New(t)
	s.Do("GET", "/api/v1/shards/shard-rs-1")
	s.Do("GET", "/invented/by/anybody")
	got := s.Do("GET", "/metrics").Body.String()
	for _, want := range []string{
		"shardboard_live_sockets 0", "shardboard_store_owner 1",
		`shardboard_http_request_duration_seconds_count{method="GET",route="/api/v1/shards/{name}",status="200"} 1`, `route="none"`,
	} {
		expect.Contains(t, got, want, "the metrics")
	}
	expect.Lacks(t, got, "invented", "an invented path is a label")
}
