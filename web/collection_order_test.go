package web_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/api"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// Whatever the picture, collections stand in the same order: sharded ones first, the largest first.
func TestListMapAndMatrixHaveCollectionsInOneOrder(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Value
	table.Unsharded = []topology.Namespace{"yorkie-meta.aa", "yorkie-meta.zz"}
	s.Watcher.Value = &table
	page := func(path, rows string) (names []string) {
		webtest.ParseHTML(t, s.Do("GET", path).Body.String()).Find(rows).Each(func(_ int, row *goquery.Selection) {
			names = append(names, row.AttrOr("data-key", ""))
		})
		return names
	}
	const ofOneDatabase = " tbody tr[data-key^='yorkie-meta.']" // the matrix has a row for each of several
	listed := page("/collections", "#live-collections"+ofOneDatabase)
	cells := page("/matrix", "[data-grid]"+ofOneDatabase)
	var bands []string
	for _, b := range webtest.Decode[api.ClusterMap](t, s.Do("GET", "/api/v1/map")).Bands {
		if strings.HasPrefix(b.NS, "yorkie-meta.") {
			bands = append(bands, b.NS)
		}
	}
	if len(bands) < 3 || !slices.Equal(listed, bands) || !slices.Equal(cells, bands) {
		t.Errorf("list %v\nmap %v\nmatrix %v", listed, bands, cells)
	}
}
