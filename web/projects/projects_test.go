package projects_test

import (
	"net/url"
	"testing"

	"shardboard/internal/api"
	"shardboard/web/webtest"
)

func TestProjectsAreSearchedAndPaged(t *testing.T) {
	s := webtest.New(t)
	seen := map[string]bool{}
	cursor := ""
	for {
		page := webtest.Decode[api.List[api.Project]](t, s.Do("GET", "/api/v1/projects?limit=50&cursor="+cursor))
		for _, p := range page.Items {
			if seen[p.ID] || len(p.Spread) == 0 {
				t.Errorf("project %+v", p)
			}
			seen[p.ID] = true
		}
		if cursor = string(page.Next); cursor == "" {
			break
		}
	}
	if len(seen) != 230 {
		t.Errorf("%d projects", len(seen))
	}
	for q, want := range map[string]string{"project-007": webtest.ProjectID(7).Hex(), webtest.ProjectID(9).Hex(): webtest.ProjectID(9).Hex(),
		"pk12": webtest.ProjectID(12).Hex(), webtest.HostileName: webtest.ProjectID(0).Hex()} {
		got := webtest.Decode[api.List[api.Project]](t, s.Do("GET", "/api/v1/projects?q="+url.QueryEscape(q)))
		if len(got.Items) == 0 || got.Items[0].ID != want {
			t.Errorf("%s: %+v", q, got.Items)
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
