package collections_test

import (
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/webtest"
)

// keySpacePicture opens a collection's page and finds its picture.
func keySpacePicture(t *testing.T, v answer.View, ns string) *goquery.Selection {
	t.Helper()
	table := webtest.ParseHTML(t, webtest.Scene{Path: "/collections/" + ns, View: v}.Open(t)).Find("table.lanes")
	must.That(t, table.Length() == 1, "%s: %d pictures", ns, table.Length())
	return table
}

// lanesDrawn are the shards that have a part of the picture.
func lanesDrawn(table *goquery.Selection) int {
	return table.Find("tr[data-key] path").FilterFunction(func(_ int, p *goquery.Selection) bool { return p.AttrOr("d", "") != "" }).Length()
}

func TestStripCoversTheKeySpaceOnce(t *testing.T) {
	v := webtest.NewStory().View()
	for _, c := range v.Table.Collections {
		table := keySpacePicture(t, v, string(c.NS))
		at := 0.0
		table.Find("svg.strip > g rect").Each(func(_ int, r *goquery.Selection) {
			x, w := percent(r.AttrOr("x", "")), percent(r.AttrOr("width", ""))
			expect.That(t, math.Abs(x-at) <= 0.02, "%s: a gap at %.2f %%", c.NS, at)
			at = x + w
		})
		expect.That(t, math.Abs(at-100) <= 0.05, "%s: ends at %.2f %%", c.NS, at)
		expect.Equal(t, lanesDrawn(table), len(c.Chunks.CountByShard()), "%s: lanes", c.NS)
	}
}

func percent(s string) float64 { return must.Get(strconv.ParseFloat(strings.TrimSuffix(s, "%"), 64)) }

func TestDenseStripStacksEveryShardsPart(t *testing.T) {
	s := webtest.NewStory()
	s.Chunks = 3000
	table := keySpacePicture(t, s.View(), "yorkie-meta.changes")
	rects, paths, lanes := table.Find("svg.strip > g rect").Length(), table.Find("svg.strip path").Length(), lanesDrawn(table)
	must.That(t, rects == 0 && paths == 3 && lanes == 3, "%d rects, %d paths, %d lanes", rects, paths, lanes)
	box := table.Find("svg.strip svg").AttrOr("viewBox", table.Find("svg.strip svg").AttrOr("viewbox", ""))
	expect.Equal(t, box, "0 0 200 100", "box")
}
