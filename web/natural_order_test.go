package web_test

import (
	"encoding/csv"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/api"
	"shardboard/web/webtest"
)

// The same order everywhere: where a list is by name, shard-rs-2 comes before shard-rs-10.
func TestShardsAreInNaturalOrderEverywhere(t *testing.T) {
	story := webtest.NewStory()
	story.Shards = 24
	var want []string
	for i := range story.Shards {
		want = append(want, story.Shard(i))
	}
	s, v := webtest.New(t), story.View()
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir

	var paged []string
	for cursor := ""; ; {
		page := webtest.Decode[api.List[api.Shard]](t, s.Do("GET", "/api/v1/shards?limit=7&cursor="+cursor))
		for _, sh := range page.Items {
			paged = append(paged, sh.Name)
		}
		if cursor = string(page.Next); cursor == "" {
			break
		}
	}
	if !slices.Equal(paged, want) {
		t.Errorf("JSON, 7 at a time: %q", paged)
	}

	lines, err := csv.NewReader(strings.NewReader(s.Do("GET", "/api/v1/shards", webtest.Header("Accept", "text/csv")).Body.String())).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var listed []string
	for _, line := range lines[1:] {
		listed = append(listed, line[slices.Index(lines[0], "name")])
	}
	if !slices.Equal(listed, want) {
		t.Errorf("CSV: %q", listed)
	}

	texts := func(address, selector string) []string {
		doc := webtest.ParseHTML(t, s.Do("GET", address).Body.String())
		return doc.Find(selector).Map(func(_ int, x *goquery.Selection) string { return strings.TrimSpace(x.Text()) })
	}
	if got := texts("/", "table.shards tbody th .shard span"); !slices.Equal(got, want) {
		t.Errorf("table of the overview: %q", got)
	}
	if got := texts("/collections/yorkie-meta.changes", ".lanes tbody th .shard span"); !slices.Equal(got, want) {
		t.Errorf("lanes of a collection: %q", got)
	}
	if got := texts("/collections/yorkie-meta.changes", "select[name=shard] option[value^=shard]"); !slices.Equal(got, want) {
		t.Errorf("choice of a shard: %q", got)
	}
}
