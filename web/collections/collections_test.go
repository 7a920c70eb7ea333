package collections_test

import (
	"encoding/csv"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"github.com/google/go-cmp/cmp"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/routing"
	"shardboard/internal/sheet"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestCollectionsAreOneTableForPageJSONAndCSV(t *testing.T) {
	s := webtest.New(t)
	list := webtest.Decode[api.List[api.Collection]](t, s.Do("GET", "/api/v1/collections?limit=1000"))
	want := map[string]string{}
	for _, c := range list.Items {
		for _, p := range c.Shards {
			bytes := ""
			if p.Bytes.Value != nil {
				bytes = strconv.FormatInt(*p.Bytes.Value, 10)
			}
			want[sheet.Inert(c.NS)+" "+sheet.Inert(p.Shard)] = strings.Join(
				[]string{strconv.FormatBool(c.Sharded), strconv.FormatBool(c.System), strconv.Itoa(p.Chunks), strconv.Itoa(c.Chunks), bytes},
				" ",
			)
		}
	}
	for _, w := range []*httptest.ResponseRecorder{s.Do("GET", "/collections.csv"),
		s.Do("GET", "/api/v1/collections?limit=1", webtest.Header("Accept", "text/csv"))} {
		rows, err := csv.NewReader(strings.NewReader(w.Body.String())).ReadAll()
		must.That(t, err == nil && w.Code == 200 && w.Header().Get("Content-Disposition") == `attachment; filename="collections.csv"`,
			"%d %v %v", w.Code, w.Header(), err)
		column := map[string]int{}
		for i, name := range rows[0] {
			column[name] = i
		}
		got := map[string]string{}
		for _, row := range rows[1:] {
			cell := func(name string) string { return row[column[name]] }
			got[cell("ns")+" "+cell("shards.shard")] = strings.Join(
				[]string{cell("sharded"), cell("system"), cell("shards.chunks"), cell("chunks"), cell("shards.bytes")},
				" ",
			)
		}
		diff := cmp.Diff(want, got)
		expect.That(t, diff == "" && len(want) >= 3, "%d lines: %s", len(want), diff)
	}
	for _, row := range strings.Split(s.Do("GET", "/collections.csv?db=none").Body.String(), "\n")[1:] {
		expect.Equal(t, row, "", "another database")
	}
}

func TestCollectionsAreSearchedByName(t *testing.T) {
	s := webtest.New(t)
	const documents = "yorkie-meta.documents"
	all := s.Page(t, "/collections").Find("#live-collections tr[data-key]").Length()
	for query, want := range map[string]string{"?q=DOCUMENTS": documents, "?q=meta.doc&page=9": documents, "?q=none": ""} {
		doc := s.Page(t, "/collections"+query)
		var found []string
		doc.Find("#live-collections tr[data-key]").Each(func(_ int, row *goquery.Selection) { found = append(found, row.AttrOr("data-key", "")) })
		expect.Equal(t, strings.Join(found, " "), want, "%s", query)
		expect.Equal(t, strings.Contains(doc.Text(), "No collections match"), want == "", "%s: says that nothing matches", query)
		lead := doc.Find("#live-collections .lead").Text()
		expect.That(t, want == "" || strings.HasPrefix(lead, fmt.Sprintf("1 of %d collections matches", all)),
			"%s: one is listed, and above it stands %q", query, lead)
		rows := strings.Count(s.Do("GET", "/collections.csv"+query).Body.String(), "\n") - 1
		expect.Equal(t, rows > 0, want != "", "%s: %d rows of CSV", query, rows)
	}
}

func TestAPageOfAMalformedNameIsNotFound(t *testing.T) {
	s := webtest.New(t)
	for _, name := range []string{"zz", "a.", ".a", "no.such"} {
		expect.Equal(t, s.Do("GET", "/collections/"+name).Code, 404, "%s", name)
	}
	expect.Equal(t, s.Do("GET", "/api/v1/collections/zz").Code, 400, "JSON")
}

// From 8.0 on an unsharded collection can have one chunk and a shard of its own. Its page is not about chunks, and what
// is done with chunks is not offered.
func TestAnUnshardedCollectionOfItsOwnPlaceIsShownAsUnsharded(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	c := routing.Collection("tenants.moved", routing.Pattern("_id"), nil, "shard-rs-3")
	c.Unsplittable = true
	table.Collections = append(slices.Clone(table.Collections), c)
	slices.SortFunc(table.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) })
	table.Seq++
	s.Watcher.Publish(&table)
	list := webtest.ParseHTML(t, s.Do("GET", "/collections").Body.String())
	row := list.Find(`tr[data-key="tenants.moved"]`)
	link := row.Find("th a").AttrOr("href", "")
	expect.That(t, link != "" && strings.Contains(row.Text(), "shard-rs-3"), "the list has the row %q", row.Text())
	page := webtest.ParseHTML(t, s.Do("GET", link).Body.String())
	expect.That(t, strings.Contains(page.Find("#live-collection").Text(), "Not sharded: all of it is on shard-rs-3."), "%s", page.Text())
	expect.That(t, page.Find("#chunks, .lanes").Length() == 0, "chunks are shown")
	expect.Equal(t, page.Find(".acts li").Length(), 1, "changes offered")
}

// A cluster of many collections has pages of them that a browser can show, and each collection is on one.
func TestManyCollectionsAreCutIntoPages(t *testing.T) {
	s := webtest.New(t)
	table := *s.Watcher.Get()
	key := routing.Pattern("k")
	for i := range 500 {
		table.Collections = append(table.Collections,
			routing.Collection(topology.Namespace(fmt.Sprintf("tenants.sharded%04d", i)), key, routing.Bounds(key, int64(1)), "shard-rs-1"))
		table.Unsharded = append(table.Unsharded, topology.Namespace(fmt.Sprintf("tenants.plain%04d", i)))
	}
	slices.SortFunc(table.Collections, func(a, b *topology.Collection) int { return strings.Compare(string(a.NS), string(b.NS)) })
	slices.Sort(table.Unsharded)
	table.Seq++
	s.Watcher.Publish(&table)
	seen, address, pages := map[string]bool{}, "/collections", 0
	for ; address != ""; pages++ {
		w := s.Do("GET", address)
		must.That(t, w.Code == http.StatusOK && w.Body.Len() <= 250<<10, "%s: %d, %d bytes", address, w.Code, w.Body.Len())
		doc := webtest.ParseHTML(t, w.Body.String())
		doc.Find("#live-collections tr[data-key]").Each(func(_ int, row *goquery.Selection) { seen[row.AttrOr("data-key", "")] = true })
		address = doc.Find(`#live-collections nav.pages a[rel="next"]`).AttrOr("href", "")
	}
	// Those on a shard are cut likewise.
	for page, rows := range map[string]int{"": 50, "?page=2": 50, "?page=999": -1} {
		w := s.Do("GET", "/shards/shard-rs-1"+page)
		n := webtest.ParseHTML(t, w.Body.String()).Find("#live-shard .wide").First().Find("tr[data-key]").Length()
		expect.That(t, w.Code == http.StatusOK && n != 0 && (rows <= 0 || n == rows) && w.Body.Len() <= 250<<10,
			"shard %s: %d, %d collections, %d bytes", page, w.Code, n, w.Body.Len())
	}
	expect.That(t, pages == 21 && len(seen) == 1000+3+2, "%d pages with %d collections", pages, len(seen))
}
