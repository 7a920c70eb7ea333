package web_test

import (
	"encoding/json"
	"maps"
	"net/url"
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestShapesOfListsAndFigures(t *testing.T) {
	s := webtest.New(t)
	var list struct {
		Items []map[string]any `json:"items"`
		Next  any              `json:"next"`
		AsOf  string           `json:"asOf"`
		Stale *bool            `json:"stale"`
	}
	w := s.Do("GET", "/api/v1/collections")
	must.Do(t, json.Unmarshal(w.Body.Bytes(), &list))
	if list.Next != nil || list.AsOf != "2026-03-01T12:00:00Z" || list.Stale == nil || *list.Stale || len(list.Items) != 5 {
		t.Errorf("%s", w.Body)
	}
	for _, row := range list.Items {
		if row["ns"] != "yorkie-meta.documents" {
			continue
		}
		if key, _ := json.Marshal(row["key"]); string(key) != `{"project_id":{"$numberInt":"1"}}` {
			t.Errorf("key %s", key)
		}
		part := row["shards"].([]any)[1].(map[string]any)
		text, _ := json.Marshal(part["bytes"])
		if part["shard"] != "shard-rs-1" || part["chunks"].(float64) != 84 ||
			string(text) != `{"at":"2026-03-01T12:00:00Z","exact":false,"method":"collStats","value":1000}` {
			t.Errorf("%v %s", part, text)
		}
	}
	var unknown map[string]any
	w = s.Do("GET", "/api/v1/collections/yorkie-meta.changes")
	_ = json.Unmarshal(w.Body.Bytes(), &unknown)
	if text, _ := json.Marshal(unknown["bytes"]); string(text) != `{"reason":"notLoaded","value":null}` {
		t.Errorf("unknown: %s", text)
	}
	for _, address := range []string{"/api/v1/zones", "/api/v1/activity?ns=none"} {
		if w := s.Do("GET", address); !strings.Contains(w.Body.String(), `"items":[`) || !strings.Contains(w.Body.String(), `"next":null`) {
			t.Errorf("%s: %s", address, w.Body)
		}
	}
}

func TestNamesInAddressesAreUnescapedOnce(t *testing.T) {
	s := webtest.New(t)
	ns := "weird.a/b,c@1%2F ü"
	for _, suffix := range []string{"", "/chunks", "/map"} {
		if w := s.Do("GET", "/api/v1/collections/"+url.PathEscape(ns)+suffix); w.Code != 200 {
			t.Errorf("%s: %d %s", suffix, w.Code, w.Body)
		}
	}
	if got := webtest.Decode[api.CollectionDetail](t, s.Do("GET", "/api/v1/collections/"+url.PathEscape(ns))); got.NS != ns {
		t.Errorf("ns %q", got.NS)
	}
	if got := webtest.Decode[api.ShardDetail](t, s.Do("GET",
		"/api/v1/shards/"+url.PathEscape(webtest.HostileName))); got.Name != webtest.HostileName {
		t.Errorf("shard %q", got.Name)
	}
	expect.Equal(t, s.Do("GET", "/collections/"+url.PathEscape(ns)).Code, 200, "the page")
	if len(s.Watcher.Seen) == 0 || s.Watcher.Seen[0] != topology.Namespace(ns) {
		t.Errorf("viewed %q", s.Watcher.Seen)
	}
}

func TestWhatWasNeverReadIsNotAnEmptyList(t *testing.T) {
	s := webtest.New(t)
	for name, c := range map[string]struct {
		health topology.Health
		status int
		text   string
	}{
		"denied": {topology.Health{Denied: true, Privilege: "find on config.tags", Err: fault.New(fault.Forbidden, "no")}, 403,
			"find on config.tags"},
		"failed": {topology.Health{Err: fault.New(fault.Unavailable, "The config servers do not answer.")}, 503, "do not answer"},
		"early":  {topology.Health{}, 503, "not read yet"},
	} {
		table := *s.Watcher.Get()
		table.Health = maps.Clone(table.Health)
		table.Health[topology.PartZones], table.Health[topology.PartEvents] = c.health, c.health
		s.Watcher.Publish(&table)
		for _, address := range []string{"/api/v1/zones", "/api/v1/activity"} {
			if w := s.Do("GET", address); w.Code != c.status || !strings.Contains(w.Body.String(), c.text) {
				t.Errorf("%s: %s %d %s", name, address, w.Code, w.Body)
			}
		}
		for _, address := range []string{"/zones", "/activity", "/", "/api/v1/cluster", "/api/v1/collections"} {
			expect.Equal(t, s.Do("GET", address).Code, 200, "%s: %s", name, address)
		}
	}
}
