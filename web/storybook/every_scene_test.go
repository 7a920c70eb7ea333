package storybook_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/fixture/expect"
	"shardboard/web/storybook"
	"shardboard/web/templates"
	"shardboard/web/webtest"
)

// saidByScenes are words that a scene is there to show.
var saidByScenes = map[string][]string{
	"overview-proposal": {"No profile fits this data: here is one", "work as they are", "Keep it", "Download shop.yaml",
		"at least 10000 rows of orders on shard-rs-1",
		"Garden & Sons", "an unknown number of rows"},
	"overview-proposal-making": {"one is being proposed"},
	"overview-proposal-none":   {"none can be proposed", "Every shard key begins with _id"},
	"overview-loading":         {"Reading the cluster", "Listed after the first read of the cluster"},
	"overview-denied":          {"Grant the cluster user find on config.sizes", "not permitted"},
	"overview-lost":            {"Cluster not answering, data 7 min old", "The cluster does not answer."},
	"collection-lost":          {"Cluster not answering"},
	"projects-denied":          {"Grant the cluster user find on yorkie-meta.projects"},
	"projects-loading":         {"not read yet"}, "projects-none": {"Projects searched:"},
	"zones-denied": {"Grant the cluster user find on config.zones"}, "zones-none": {"There are no zones"},
	"zones-loading": {"not read yet"}, "activity-denied": {"Grant the cluster user find on config.events"},
	"activity-loading": {"not read yet"}, "activity-failed": {"last read at"},
	"layout": {"yorkie-meta is sharded like yorkie-head"}, "layout-drift": {"Compared with yorkie-0.4, as chosen"},
	"layout-loading": {"not read yet"}, "layout-none": {"No database holds projects"},
	"collections-denied": {"Grant the cluster user find on config.collections"},
	"shard-denied":       {"affected is not known"}, "missing": {"There is no shard", "shard-rs-3"},
	"heat": {"writes/s"}, "heat-minute": {"writes/s"}, "heat-broken": {"does not answer"},
	"heat-refused": {"find on yorkie-meta.changes"}, "chunk-counted": {"writes/s"},
}

// Every scene is opened once and judged by all that is true of a page. Short runs open those that are there for words.
func TestEveryScene(t *testing.T) {
	signIn, accounts := names(storybook.SignInScenes()), names(storybook.AccountScenes())
	pages, states := names(storybook.Scenes()), names(storybook.StateScenes())
	words, fields := 0, 0
	for _, sc := range storybook.All() {
		counted := strings.HasPrefix(sc.Name, "heat") || sc.Name == "chunk-counted" // minutes of writes
		if testing.Short() && (saidByScenes[sc.Name] == nil || counted) {
			continue
		}
		t.Run(sc.Name, func(t *testing.T) {
			w := sc.Serve(t).Do("GET", sc.Path, sc.Ask...)
			html := w.Body.String()
			doc := webtest.ParseHTML(t, html)
			expect.That(t, (w.Code < 500 || w.Code == http.StatusServiceUnavailable) && w.Code/100 != 3, "status %d", w.Code)
			for _, fault := range webtest.FaultsOfPage(doc) {
				if sc.Name != "login-leave" || !strings.HasPrefix(fault, "https://issuer.example/") { // it leads to the issuer
					t.Error(fault)
				}
			}
			for _, said := range saidByScenes[sc.Name] {
				words++
				expect.Contains(t, doc.Find("body").Text(), said, "the page")
			}
			most := webtest.LargestPage
			if table := sc.View.Table; table != nil && len(table.Shards) > templates.ManyShards {
				most = 120 << 10
			} else if sc.Name == "heat-counted-longnames" { // six lists of names of 200 characters
				most = 84 << 10
			}
			expect.That(t, !pages[sc.Name] || len(html) <= most, "%d bytes, at most %d", len(html), most)
			if subject, state, _ := strings.Cut(sc.Name, "-"); states[sc.Name] && subject != "compare" && w.Code != http.StatusOK &&
				slices.Contains([]string{"partial", "hundred", "longnames", "hostile"}, state) {
				t.Errorf("status %d where the cluster has the thing that the page shows", w.Code)
			}
			if signIn[sc.Name] || accounts[sc.Name] {
				fields += checkFields(t, doc)
			}
			for _, secret := range []string{"mongodb://", "shard-rs", "data-topics", "5.0.7", "/collections"} {
				expect.That(t, !signIn[sc.Name] || !strings.Contains(html, secret) || secret == "/collections" && strings.Contains(sc.Name, "ended"),
					"shows %s before sign-in", secret)
			}
		})
	}
	expect.That(t, (words >= len(saidByScenes) || testing.Short()) && words >= 20 && (fields >= 30 || testing.Short()),
		"only %d words and %d fields were looked for", words, fields)
}

func names(list []webtest.Scene) map[string]bool {
	out := map[string]bool{}
	for _, sc := range list {
		out[sc.Name] = true
	}
	return out
}

// checkFields counts the fields of a form of accounts. Each has a label and says what it holds.
func checkFields(t *testing.T, doc *goquery.Document) (n int) {
	doc.Find("main input:not([type=hidden]):not([aria-hidden]), main select").Each(func(_ int, f *goquery.Selection) {
		n++
		name := f.AttrOr("name", "?")
		id, has := f.Attr("id")
		expect.That(t, f.ParentsFiltered("label").Length() != 0 || has && doc.Find("label[for='"+id+"']").Length() == 1,
			"%s has no label", name)
		holds := f.AttrOr("autocomplete", "")
		expect.That(t, (!f.Is("input") || holds != "") && (f.AttrOr("type", "") != "password" || strings.Contains(holds, "-password")),
			"%s does not say what it holds: %q", name, holds)
	})
	if n := doc.Find("form:not([method=post]):not([role=search]):not([method=dialog])").Length(); n > 0 {
		t.Errorf("%d forms are no POST", n)
	}
	return n
}
