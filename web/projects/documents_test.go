package projects_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/placement"
	"shardboard/web/webtest"
)

func TestTheDocumentsOfAProjectArePagedByKey(t *testing.T) {
	s := webtest.New(t)
	var want []string
	for i := range 9 {
		key := fmt.Sprintf("doc-%d", i)
		for n := range 1 + i%3*2 { // removed ones have the key of their successor
			row := placement.DocumentRow{ID: bson.ObjectID{byte(i), byte(n)}, Key: key, Removed: n > 0}
			s.Locator.Listed = append(s.Locator.Listed, placement.PlacedDocument{DocumentRow: row,
				Place: placement.Place{Shards: []string{"shard-rs-1"}, Exact: true}})
			want = append(want, row.ID.Hex())
		}
	}
	for limit := 1; limit < 8; limit++ {
		var got []string
		for cursor, pages := "", 0; pages < 100; pages++ {
			page := webtest.Decode[api.ProjectDocuments](t, s.Do("GET", fmt.Sprintf("/api/v1/projects/%s/documents?limit=%d&cursor=%s",
				webtest.ProjectID(5).Hex(), limit, cursor)))
			for _, d := range page.Items {
				got = append(got, d.ID)
			}
			if page.NS != "yorkie-meta.documents" || page.Project != webtest.ProjectID(5).Hex() || len(page.Items) > limit {
				t.Fatalf("%+v", page)
			}
			if cursor = string(page.Next); cursor == "" {
				break
			}
		}
		if !slices.Equal(got, want) {
			t.Errorf("limit %d: %v, want %v", limit, got, want)
		}
	}
	for query, code := range map[string]int{"x/documents": http.StatusBadRequest,
		webtest.ProjectID(999).Hex() + "/documents":         http.StatusNotFound,
		webtest.ProjectID(5).Hex() + "/documents?cursor=eA": http.StatusBadRequest} {
		if got := s.Do("GET", "/api/v1/projects/"+query).Code; got != code {
			t.Errorf("%q: %d, want %d", query, got, code)
		}
	}
}
