package projects_test

import (
	"net/url"
	"testing"

	"shardboard/internal/api"
	"shardboard/web/webtest"
)

func TestProjectsAreFoundByNameIDAndKey(t *testing.T) {
	s := webtest.New(t)
	for q, want := range map[string]string{"project-007": webtest.ProjectID(7).Hex(), webtest.ProjectID(9).Hex(): webtest.ProjectID(9).Hex(),
		"pk12": webtest.ProjectID(12).Hex(), webtest.HostileName: webtest.ProjectID(0).Hex()} {
		got := webtest.Decode[api.List[api.Project]](t, s.Do("GET", "/api/v1/projects?q="+url.QueryEscape(q)))
		if len(got.Items) == 0 || got.Items[0].ID != want {
			t.Errorf("%s: %+v", q, got.Items)
		}
	}
	for query, code := range map[string]int{"x/documents": 400, webtest.ProjectID(999).Hex() + "/documents": 404} {
		if got := s.Do("GET", "/api/v1/projects/"+query).Code; got != code {
			t.Errorf("%q: %d, want %d", query, got, code)
		}
	}
	one := webtest.Decode[api.ProjectDetail](t, s.Do("GET", "/api/v1/projects/"+webtest.ProjectID(5).Hex()))
	for _, c := range one.Collections {
		if c.NS == "yorkie-meta.documents" &&
			(len(c.Shards) != 1 || c.ChunkCount != 1 || !c.Exact || c.Presence != "exists" || len(c.Chunks) != 1 || c.Chunks[0].Zone != "") {
			t.Errorf("%+v", c)
		}
	}
}
