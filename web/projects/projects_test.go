package projects_test

import (
	"net/http"
	"net/url"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/web/webtest"
)

func TestProjectsAreFoundByNameIDAndKey(t *testing.T) {
	s := webtest.New(t)
	for q, want := range map[string]string{"project-007": webtest.ProjectID(7).Hex(), webtest.ProjectID(9).Hex(): webtest.ProjectID(9).Hex(),
		"pk12": webtest.ProjectID(12).Hex(), webtest.HostileName: webtest.ProjectID(0).Hex()} {
		got := webtest.Decode[api.List[api.Project]](t, s.Do("GET", "/api/v1/projects?q="+url.QueryEscape(q)))
		expect.That(t, len(got.Items) != 0 && got.Items[0].ID == want, "%s: %+v", q, got.Items)
	}
	for query, code := range map[string]int{"x/documents": 400, webtest.ProjectID(999).Hex() + "/documents": 404} {
		expect.Equal(t, s.Do("GET", "/api/v1/projects/"+query).Code, code, "%q", query)
	}
	one := webtest.Decode[api.ProjectDetail](t, s.Do("GET", "/api/v1/projects/"+webtest.ProjectID(5).Hex()))
	for _, c := range one.Collections {
		expect.That(t, c.NS != "yorkie-meta.documents" ||
			len(c.Shards) == 1 && c.ChunkCount == 1 && c.Exact && c.Presence == "exists" && len(c.Chunks) == 1 && c.Chunks[0].Zone == "",
			"%+v", c)
	}
}

func TestProjectsAreSortedByTheirFigures(t *testing.T) {
	s := webtest.New(t)
	list := func(query string) []api.Project {
		return webtest.Decode[struct{ Items []api.Project }](t, s.Do("GET", "/api/v1/projects?limit=1000&sort="+query)).Items
	}
	sorted := func(by string, less func(a, b api.Project) bool) {
		all := list(by)
		expect.That(t, len(all) == len(s.Keeper.Value.All()), "%s: %d projects", by, len(all))
		for i, p := range all[1:] {
			expect.That(t, !less(p, all[i]), "%s: %s stands after %s", by, p.Name, all[i].Name)
		}
	}
	sorted("created", func(a, b api.Project) bool { return a.CreatedAt.After(*b.CreatedAt) })
	sorted("documents", func(a, b api.Project) bool {
		return a.Documents.Value != nil && (b.Documents.Value == nil || *a.Documents.Value > *b.Documents.Value)
	})
	sorted("shards", func(a, b api.Project) bool { return len(a.Shards) > len(b.Shards) })
	expect.Equal(t, s.Do("GET", "/api/v1/projects?sort=luck").Code, http.StatusBadRequest, "an unknown order")
	doc := s.Page(t, "/projects?sort=created&q=a")
	if doc.Find(`th[aria-sort="descending"] a`).Text() != "Created" || doc.Find(`th a[href="/projects?q=a&sort=bytes"]`).Length() != 1 {
		t.Error("the heads do not keep the search, or say another order")
	}
}
