package web_test

import (
	"encoding/csv"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/sheet"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

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
		if isCSV := slices.Contains(rt.Types, site.MediaCSV); isCSV != (item != nil) {
			t.Errorf("%s: is a list: %v, has CSV: %v", rt.Pattern, item != nil, isCSV)
		}
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
		if err := json.Unmarshal(s.Do("GET", paged).Body.Bytes(), &want); err != nil {
			t.Errorf("%s: %v", rt.Pattern, err)
		}
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
	if lists < 20 || len(files) < 7 {
		t.Errorf("%d lists, %d files", lists, len(files))
	}
}

func TestCSVHasAllPages(t *testing.T) {
	s := webtest.New(t)
	for _, address := range []string{"/collections/yorkie-meta.changes/chunks?limit=5", "/activity?internal=1&limit=5"} {
		w := s.Do("GET", "/api/v1"+address, webtest.Header("Accept", "text/csv"))
		rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
		if want := map[byte]int{'c': 1200, 'a': 300}[address[1]]; err != nil || len(rows)-1 != want {
			t.Errorf("%s: %d lines, want %d: %v", address, len(rows)-1, want, err)
		}
	}
}
