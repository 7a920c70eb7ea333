package web_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/internal/sheet"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// listsServer has counted writes, failed moves of which five began in the same millisecond, and documents of a project
// of which removed ones have the key of their successor.
func listsServer(t *testing.T) *webtest.Server {
	v := webtest.NewStory().View()
	s := webtest.NewHeatServer(t, v, webtest.WritesToSeveral(v), 2*time.Minute+5*time.Second, nil)
	table := webtest.CannedTable(2, 60)
	for i := range 40 {
		begin := s.Deps.Now().Add(-time.Duration(i/5+1) * time.Minute)
		table.Events = slices.Concat(webtest.FailedAttempt(t, table, i%7, begin, fmt.Sprintf("reason %d", i)), table.Events)
	}
	for i := range 9 {
		for n := range 1 + i%3*2 {
			row := placement.DocumentRow{ID: bson.ObjectID{byte(i), byte(n)}, Key: fmt.Sprintf("doc-%d", i), Removed: n > 0}
			s.Locator.Listed = append(s.Locator.Listed, placement.PlacedDocument{DocumentRow: row,
				Place: placement.Place{Shards: []string{"shard-rs-1"}, Exact: true}})
		}
	}
	s.Watcher.Value = table
	s.Keeper.Value = placement.NewDirectory(3, []string{"yorkie-meta"}, []placement.Project{
		{DB: "yorkie-meta", ID: webtest.ProjectID(5), Name: "five"}, {DB: "yorkie-meta", ID: webtest.ProjectID(6), Name: "six"},
		{DB: "yorkie-meta", ID: webtest.ProjectID(7), Name: "seven"}, {DB: "yorkie-meta", ID: webtest.ProjectID(8), Name: "eight"},
	}, topology.Health{At: s.Deps.Now()})
	return s
}

// Pages of any size make up the whole list, in its order, each item once.
func TestEveryListIsPagedToItsEnd(t *testing.T) {
	type list struct {
		Items []json.RawMessage
		Next  string
	}
	s, lists := listsServer(t), 0
	for _, rt := range web.Routes() {
		has := func(name string) bool {
			return slices.ContainsFunc(rt.Params, func(p site.Param) bool { return p.Name == name })
		}
		if rt.Method != http.MethodGet || rt.Tag != site.TagAPI || !has("limit") || !has("cursor") ||
			rt.Pattern == "/api/v1/history" || rt.Pattern == "/api/v1/runs" { // stubs have no history and one page of runs
			continue
		}
		address := webtest.AddressOf(rt.Pattern) + map[string]string{"/api/v1/lab/game/turns": "?decks=1"}[rt.Pattern]
		of := func(limit int, cursor string) (l list) {
			u, _ := url.Parse(address)
			q := u.Query()
			q.Set("limit", fmt.Sprint(limit))
			if cursor != "" {
				q.Set("cursor", cursor)
			}
			u.RawQuery = q.Encode()
			return webtest.Decode[list](t, s.Do("GET", u.String()))
		}
		paged := func(limit int) (items []json.RawMessage) {
			for cursor, pages := "", 0; pages < 400; pages++ {
				page := of(limit, cursor)
				items = append(items, page.Items...)
				if cursor = page.Next; cursor == "" {
					break
				}
			}
			return items
		}
		all := paged(1000)
		if len(all) > 3 {
			lists++
		}
		for _, limit := range []int{1, 3, 7} {
			if len(all)/limit > 200 {
				continue
			}
			if got := paged(limit); !slices.EqualFunc(got, all, func(a, b json.RawMessage) bool { return string(a) == string(b) }) {
				t.Errorf("%s: %d items, %d in pages of %d, or in another order", address, len(all), len(got), limit)
			}
		}
		w := s.Do("GET", webtest.AddressOf(rt.Pattern)+"?cursor=eA")
		expect.That(t, w.Code < 500, "%s: a foreign cursor: %d", address, w.Code)
	}
	expect.That(t, lists >= 10, "only %d lists have several items", lists)
}

// Whatever the picture, collections stand in the same order: sharded ones first, the largest first.
func TestListMapAndMatrixHaveCollectionsInOneOrder(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Value
	table.Unsharded = []topology.Namespace{"yorkie-meta.aa", "yorkie-meta.zz"}
	s.Watcher.Value = &table
	page := func(path, rows string) (names []string) {
		s.Page(t, path).Find(rows).Each(func(_ int, row *goquery.Selection) {
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
	expect.That(t, len(bands) >= 3 && slices.Equal(listed, bands) && slices.Equal(cells, bands),
		"list %v\nmap %v\nmatrix %v", listed, bands, cells)
}

func TestAFailedPageOffersNoCSV(t *testing.T) {
	s := webtest.New(t)
	for address, status := range map[string]int{"/shards/nope": 404, "/zones?at=x": 400, "/runs?state=x": 400, "/zones": 200} {
		w := s.Do("GET", address)
		expect.That(t, w.Code == status && strings.Contains(w.Body.String(), ".csv") == (status == 200),
			"%s: %d, want %d and a link to CSV only if 200", address, w.Code, status)
	}
}

func TestShardNamesWithDotsHaveCSVToo(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	table.Shards = append(table.Shards[:0:0], topology.Shard{Name: "rs.1"}, topology.Shard{Name: "rs.2.csv"})
	s.Watcher.Publish(&table)
	for address, media := range map[string]string{"/shards/rs.1": "text/html", "/shards/rs.1.csv": "text/csv",
		"/shards/rs.2.csv": "text/html", "/shards/rs.2.csv.csv": "text/csv", "/shards/rs.2.csv?format=csv": "text/csv",
		"/shards/rs.2.csv?format=json": "application/json", "/zones?format=json": "application/json", "/zones?format=csv": "text/csv",
		"/api/v1/shards?format=csv": "text/csv", "/api/v1/shards/rs.2.csv?format=csv": "text/csv"} {
		if w := s.Do("GET", address); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), media) {
			t.Errorf("%s: %d %s", address, w.Code, w.Header().Get("Content-Type"))
		} else if media == "text/html" && !strings.Contains(w.Body.String(), `href="`+address+`?format=csv" download`) {
			t.Errorf("%s has no link to its file", address)
		}
	}
	for _, address := range []string{"/zones?format=xml", "/api/v1/cluster?format=csv", "/shards/rs.1?format=x"} {
		expect.Equal(t, s.Do("GET", address).Code, http.StatusBadRequest, "%s", address)
	}
}

// TestEveryListHasCSV compares the CSV of every list with its JSON: as many items, and the
// columns of their type.
func TestEveryListHasCSV(t *testing.T) {
	s := webtest.New(t, webtest.WithHistory(t))
	var files []string
	for _, rt := range web.Routes() {
		if slices.Equal(rt.Types, []string{site.MediaCSV}) {
			files = append(files, rt.Pattern)
		}
	}
	lists := 0
	for _, rt := range web.Routes() {
		item := sheet.ItemsOf(reflect.TypeOf(rt.Answer))
		byHand := slices.Contains([]string{"/api/v1/locate", "/api/v1/shards/{name}"}, rt.Pattern)
		if rt.Tag != site.TagAPI || rt.Method != "GET" || byHand {
			continue
		}
		expect.Equal(t, slices.Contains(rt.Types, site.MediaCSV), item != nil, "%s: is a list: %v, has CSV", rt.Pattern, item != nil)
		if item == nil {
			continue
		}
		lists++
		address := exampleOf(rt)
		paged := address
		if slices.ContainsFunc(rt.Params, func(p site.Param) bool { return p.Name == "limit" }) {
			paged += map[bool]string{false: "?", true: "&"}[strings.Contains(paged, "?")] + "limit=1000"
		}
		var want struct {
			Items []json.RawMessage `json:"items"`
			Next  *string           `json:"next"`
		}
		expect.NoError(t, json.Unmarshal(s.Do("GET", paged).Body.Bytes(), &want), "%s", rt.Pattern)
		addresses := []string{address}
		if file := strings.TrimPrefix(rt.Pattern, "/api/v1") + ".csv"; slices.Contains(files, file) {
			addresses = append(addresses, exampleOf(site.Route{Pattern: file}))
		}
		// An item can have several lines, one for each of its parts.
		several := slices.ContainsFunc(reflect.VisibleFields(item), func(f reflect.StructField) bool { return f.Tag.Get("csv") == "rows" })
		for _, address := range addresses {
			w := s.Do("GET", address, webtest.Header("Accept", "text/csv"))
			rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
			if err != nil || w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Disposition"), "attachment; filename=") {
				t.Errorf("%s: %d %v %v", address, w.Code, err, w.Header())
				continue
			}
			expect.EqualSlices(t, rows[0], sheet.ColumnsOf(item).Names(), "%s: columns", address)
			if got := len(rows) - 1; want.Next == nil && !several && got != len(want.Items) || got < len(want.Items) {
				t.Errorf("%s: %d lines of %d items", address, got, len(want.Items))
			}
		}
	}
	expect.That(t, lists >= 20 && len(files) >= 7, "%d lists, %d files", lists, len(files))
}

func TestCSVHasAllPages(t *testing.T) {
	s := webtest.New(t)
	for _, address := range []string{"/collections/yorkie-meta.changes/chunks?limit=5", "/activity?internal=1&limit=5"} {
		w := s.Do("GET", "/api/v1"+address, webtest.Header("Accept", "text/csv"))
		rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
		want := map[byte]int{'c': 1200, 'a': 300}[address[1]]
		expect.That(t, err == nil && len(rows)-1 == want, "%s: %d lines, want %d: %v", address, len(rows)-1, want, err)
	}
}
