package locate_test

import (
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestAnAddressOfThisDashboardLeadsToItsPage(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	shard := answer.ShardURL(s.Watcher.Value.Shards[0].Name) // a hostile name
	coll := answer.CollectionURL(s.Watcher.Value.Collections[0].NS)
	for _, to := range []string{
		shard, coll, coll + "?key=42#chunks", coll + "/chunks/abc", "/checks/duplicates",
		"/projects/65e000000000000000000001?shard=s#on-shard",
	} {
		for _, text := range []string{to, " http://localhost:8090" + to, "https://LOCALHOST:8090" + to} {
			w := s.Do("GET", "/locate?q="+url.QueryEscape(text))
			if w.Code != 303 || w.Header().Get("Location") != to {
				t.Errorf("%q: %d to %q, want %q", text, w.Code, w.Header().Get("Location"), to)
			}
		}
	}
}

func TestOtherAddressesLeadNowhereByThemselves(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	shard := "plain"
	for text, offered := range map[string]bool{
		"http://evil.example/shards/" + shard: true, "//evil.example/shards/" + shard: true,
		"http://localhost:8090@evil.example/shards/" + shard: false, "javascript:alert(1)": false, "/": false, "/api/v1/cluster": false,
		"http://localhost:8090/api/v1/cluster": false, "/static/app.css": false, `/\evil.example`: false, "/shards/../api": false,
		"http://localhost:8090/logout": false, "http://localhost:8090//evil.example/": false, "/locate": false,
	} {
		w := s.Do("GET", "/locate?q="+url.QueryEscape(text))
		if w.Code == 303 {
			t.Errorf("%q leads to %q", text, w.Header().Get("Location"))
		}
		expect.Equal(t, strings.Contains(w.Body.String(), `another dashboard`), offered,
			"%q: whether the page here is offered", text)
	}
}

func TestAShardOrCollectionByNameIsFoundThoughItIsNoPlace(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	for text, to := range map[string]string{"SHARD-RS-2": "/shards/shard-rs-2", "yorkie-meta.changes": "/collections/yorkie-meta.changes"} {
		w := s.Do("GET", "/locate?q="+url.QueryEscape(text))
		if w.Code != 200 || !strings.Contains(w.Body.String(), `href="`+to+`"`) || strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%q: %d, no link to %s", text, w.Code, to)
		}
	}
}

func TestANumberWaitsForItsCollection(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	body := s.Do("GET", "/locate?q="+url.QueryEscape(`NumberLong("42")`)).Body.String()
	for _, part := range []string{`<details class="bykey" open`, `name="key" value="NumberLong(&#34;42&#34;)"`, "Read as a number"} {
		expect.Contains(t, body, part, "the page")
	}
}
