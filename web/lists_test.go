package web_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/placement"
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
		if w := s.Do("GET", webtest.AddressOf(rt.Pattern)+"?cursor=eA"); w.Code >= 500 {
			t.Errorf("%s: a foreign cursor: %d", address, w.Code)
		}
	}
	if lists < 10 {
		t.Errorf("only %d lists have several items", lists)
	}
}
