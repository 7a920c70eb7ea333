package overview_test

import (
	"strings"
	"testing"

	"shardboard/web/webtest"
)

func TestTheOverviewHasASmallMatrixForAnyNumberOfShards(t *testing.T) {
	for _, shards := range []int{3, 24, 36} {
		story := webtest.NewStory()
		story.Shards = shards
		html := webtest.Scene{Path: "/", View: story.View()}.Open(t)
		doc := webtest.ParseHTML(t, html)
		small := doc.Find("#live-overview details.smallmatrix")
		if small.Length() != 1 || small.Find(".gridbox .grid").Length() != 1 {
			t.Fatalf("%d shards: no small matrix in the live region", shards)
		}
		if n := small.Find("thead th").Length(); n < 5 || n > 12 {
			t.Errorf("%d shards: %d columns", shards, n)
		}
		if n := small.Find("tbody tr").Length(); n > 8 {
			t.Errorf("%d shards: %d rows", shards, n)
		}
		if inner, _ := small.Html(); len(inner) > 24<<10 {
			t.Errorf("%d shards: %d bytes", shards, len(inner))
		}
		if !strings.Contains(small.Find("summary").Text(), "than an even share") {
			t.Errorf("%d shards: the summary is %q", shards, small.Find("summary").Text())
		}
		whole := webtest.ParseHTML(t, webtest.Scene{Path: "/matrix", View: story.View()}.Open(t))
		if a, b := small.Find("tr.total td").First().Text(), whole.Find("tr.total td").First().Text(); a != b {
			t.Errorf("%d shards: the sum is %q here and %q on the page of the matrix", shards, a, b)
		}
	}
}

func TestManyShardsHaveALinkToTheMatrix(t *testing.T) {
	story := webtest.NewStory()
	story.Shards = 100
	doc := webtest.ParseHTML(t, webtest.Scene{Path: "/", View: story.View()}.Open(t))
	line := doc.Find("#live-overview .smallmatrix")
	if line.Length() != 1 || doc.Find("#live-overview .grid").Length() != 0 {
		t.Fatalf("%d lines, %d tables", line.Length(), doc.Find("#live-overview .grid").Length())
	}
	if href := line.Find("a").AttrOr("href", ""); href != "/matrix" {
		t.Errorf("the line leads to %q", href)
	}
	if !strings.Contains(line.Text(), "than an even share") {
		t.Errorf("the line is %q", line.Text())
	}
}
