package web_test

import (
	"encoding/csv"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/natural"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

var shardName = regexp.MustCompile(`shard-rs-\d+`)

// bytewise are the names of a list in byte order (1, 10, 11, 2), which is what a list has that nobody sorted as people
// read it. A list by size is in neither order.
func bytewise(names []string) bool {
	names = slices.Compact(slices.Clone(names))
	return len(names) > 2 && slices.IsSorted(names) && !slices.IsSortedFunc(names, natural.Compare[string])
}

// TestNoListOfShardsIsInByteOrder walks every answer in JSON and CSV and every page over 12 shards.
func TestNoListOfShardsIsInByteOrder(t *testing.T) {
	story := webtest.NewStory()
	story.Shards = 12
	s, v := webtest.New(t), story.View()
	s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
	lists := 0
	check := func(where string, names []string) {
		if len(slices.Compact(slices.Sorted(slices.Values(names)))) > 2 {
			lists++
		}
		if bytewise(names) {
			t.Errorf("%s: %q", where, names)
		}
	}
	for _, rt := range web.Routes() {
		if rt.Method != http.MethodGet || slices.Contains(rt.Types, "text/event-stream") {
			continue
		}
		address := webtest.AddressOf(rt.Pattern)
		for _, query := range []string{"", "?kind=move", "?by=projects", "?kind=pin&project=" + webtest.ProjectID(5).Hex()} {
			for _, media := range rt.Types {
				w := s.Do("GET", address+query, webtest.Header("Accept", media))
				if w.Code != http.StatusOK {
					continue
				}
				where, body := media+" "+address+query, w.Body.String()
				switch media {
				case site.MediaHTML:
					checkPage(where, webtest.ParseHTML(t, body), check)
				case site.MediaCSV:
					checkCSV(where, body, check)
				case site.MediaJSON:
					var value any
					if json.Unmarshal([]byte(body), &value) == nil {
						checkJSON(where, value, check)
					}
				}
			}
		}
	}
	if lists < 40 {
		t.Errorf("only %d lists were found", lists)
	}
	if !bytewise([]string{"shard-rs-1", "shard-rs-10", "shard-rs-2"}) || bytewise([]string{"shard-rs-1", "shard-rs-2", "shard-rs-10"}) {
		t.Error("byte order is not told")
	}
}

func checkPage(where string, doc *goquery.Document, check func(string, []string)) {
	doc.Find("select, p, li, td, dd, h1, title").Each(func(_ int, x *goquery.Selection) {
		check(where+" "+goquery.NodeName(x), shardName.FindAllString(x.Text(), -1))
	})
	doc.Find("[title], [aria-label]").Each(func(_ int, x *goquery.Selection) {
		check(where+" title", shardName.FindAllString(x.AttrOr("title", ""), -1))
		check(where+" label", shardName.FindAllString(x.AttrOr("aria-label", ""), -1))
	})
	doc.Find("table, ul, ol, dl, svg").Each(func(_ int, x *goquery.Selection) {
		rows := x.Find("tbody tr, li, dt, g, path").Map(func(_ int, row *goquery.Selection) string { return shardName.FindString(row.Text()) })
		check(where+" "+goquery.NodeName(x), slices.DeleteFunc(rows, func(name string) bool { return name == "" }))
		check(where+" thead", shardName.FindAllString(x.Find("thead").Text(), -1))
	})
}

func checkCSV(where, body string, check func(string, []string)) {
	lines, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	if err != nil || len(lines) == 0 {
		return
	}
	for column := range lines[0] {
		var names []string
		for _, line := range lines[1:] {
			check(where, shardName.FindAllString(line[column], -1))
			if name := shardName.FindString(line[column]); name != "" {
				names = append(names, name)
			}
		}
		check(where+" "+lines[0][column], names)
	}
	check(where+" columns", shardName.FindAllString(strings.Join(lines[0], " "), -1))
}

func checkJSON(where string, value any, check func(string, []string)) {
	switch x := value.(type) {
	case map[string]any:
		for name, inner := range x {
			checkJSON(where+"."+name, inner, check)
		}
	case string:
		check(where, shardName.FindAllString(x, -1))
	case []any:
		byField := map[string][]string{}
		for _, item := range x {
			switch item := item.(type) {
			case string:
				byField[""] = append(byField[""], item)
			case map[string]any:
				for _, field := range []string{"name", "shard"} {
					if name, ok := item[field].(string); ok {
						byField[field] = append(byField[field], name)
					}
				}
			}
			checkJSON(where+"[]", item, check)
		}
		for field, names := range byField {
			check(where+"[]."+field, slices.DeleteFunc(names, func(n string) bool { return !shardName.MatchString(n) }))
		}
	}
}
