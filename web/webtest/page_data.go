package webtest

import (
	"regexp"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/fixture/must"
)

// ShownData is what a page shows of the cluster: its live region without ages.
func ShownData(t *testing.T, html string) string {
	doc := ParseHTML(t, html)
	region := doc.Find("main [data-live]")
	if region.Length() == 0 {
		t.Fatalf("no region in %.300s", html)
	}
	region.Find("time").Remove()
	region.Find("dt").FilterFunction(func(_ int, dt *goquery.Selection) bool { return dt.Text() == "Now" }).Parent().Remove() // not kept
	region.Find(
		"#inflight",
	).Remove() // is of now alone
	region.Find("[href]").Each(func(_ int, a *goquery.Selection) { a.RemoveAttr("href") })
	region.Find(".worst").Remove()                                  // what helps is planned now
	region.Find("input[type=hidden], [data-key=measured]").Remove() // sizes of chunks are measured now
	region.RemoveAttr("data-live-url")
	var out string
	region.Each(func(_ int, one *goquery.Selection) {
		html, err := goquery.OuterHtml(one)
		must.Do(t, err)
		out += html
	})
	// How old a figure is stands in titles too.
	return regexp.MustCompile(`\s+`).ReplaceAllString(out, " ")
}

// FirstDifference is where two texts part.
func FirstDifference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, min(i-80, len(s))):min(len(s), i+160)] }
	return "\n" + cut(got) + "\n" + cut(want)
}
