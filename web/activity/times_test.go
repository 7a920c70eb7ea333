package activity_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/format"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

// begun is after everything that the canned table has in its log.
var begun = webtest.Epoch.Add(time.Hour)

// withLog publishes and records a table with moves of one chunk a minute, n of them up to now, of which
// each tenth failed, and shows only the newest kept in the table.
func withLog(t *testing.T, n, kept int) *webtest.PastServer {
	x := webtest.NewPastServer(t)
	base := *x.Watcher.Get()
	var all []topology.Event
	for i := range n {
		at, what := begun.Add(time.Duration(i)*time.Minute), "moveChunk.commit"
		if i%10 == 0 {
			what = "moveChunk.error"
		}
		all = append([]topology.Event{webtest.MoveEntry(t, &base, 3, at, what)}, all...)
	}
	for end := n; end > 0; end -= 500 { // a table has at most so many
		next := base
		next.Events = all[max(0, end-500):end]
		x.Past.Note(webtest.Epoch, &next)
	}
	x.Now = begun.Add(time.Duration(n) * time.Minute)
	next := base
	next.Seq++
	next.Events = all[:kept]
	x.Past.Note(x.Now, &next)
	x.Watcher.Publish(&next)
	return x
}

func countsOf(t *testing.T, x *webtest.PastServer, query string) (bars, other, failed int) {
	t.Helper()
	list := webtest.Decode[api.List[api.ActivityBar]](t, x.Do("GET", "/api/v1/activity/histogram?"+query)).Items
	for _, b := range list {
		other, failed = other+b.Other, failed+b.Failed
	}
	return len(list), other, failed
}

var since = answer.AtText(begun)

func TestATimeReachesBackIntoHistory(t *testing.T) {
	x := withLog(t, 300, 50)
	for _, c := range []struct {
		query         string
		other, failed int
	}{
		{"", 45, 5}, {"last=1h", 54, 6}, {"from=" + since, 270, 30}, {"from=" + since + "&outcome=failed", 0, 30},
		{"from=" + since + "&outcome=committed", 270, 0}, {"from=" + since + "&shard=shard-rs-2", 270, 30},
		{"from=" + since + "&shard=shard-rs-3", 0, 0}, {"from=" + since + "&kind=split", 0, 0},
		{"from=" + since + "&to=" + answer.AtText(begun.Add(10*time.Minute)), 9, 1},
	} {
		bars, other, failed := countsOf(t, x, c.query)
		expect.That(t, other == c.other && failed == c.failed && bars <= 36,
			"%s: %d and %d failed in %d bars, want %d and %d", c.query, other, failed, bars, c.other, c.failed)
		listed, cursor := 0, ""
		for {
			page := webtest.Decode[api.List[api.Event]](t, x.Do("GET", "/api/v1/activity?limit=90&"+c.query+"&cursor="+cursor))
			listed += len(page.Items)
			if cursor = string(page.Next); cursor == "" {
				break
			}
		}
		expect.That(t, listed == c.other+c.failed, "%s: %d entries are listed, %d counted", c.query, listed, c.other+c.failed)
	}
}

func TestMoreEntriesThanAreListedAreCountedAllTheSame(t *testing.T) {
	x := withLog(t, 2500, 500)
	page := x.Do("GET", "/activity?from="+since).Body.String()
	expect.ContainsAll(t, page, []string{format.Count(2500) + " entries, 250 failed",
		"The newest " + format.Count(1000) + " of " + format.Count(2500) + " entries are listed."}, "the page")
	expect.Equal(t, webtest.ParseHTML(t, page).Find(".pages span").Text(), "1–30 of "+format.Count(1000), "pages")
	// A bar leads to exactly the entries that it stands for.
	bar := webtest.ParseHTML(t, page).Find(".histogram a").First()
	inside := x.Page(t, bar.AttrOr("href", ""))
	n := strings.Fields(bar.Find("title").Text())[0]
	got := inside.Find(".histogram figcaption strong").Text()
	expect.That(t, n != "" && strings.HasPrefix(got, n+" entries"), "a bar of %s entries leads to %q", n, got)
}

func TestEachLineSaysOutcomeAuthorAndChunk(t *testing.T) {
	x := withLog(t, 20, 20)
	doc := x.Page(t, "/activity?from="+since)
	rows := doc.Find(".events li")
	must.That(t, rows.Length() == 20, "%d rows", rows.Length())
	rows.Each(func(_ int, row *goquery.Selection) {
		want := "committed"
		if row.HasClass("failed") {
			want = "failed"
		}
		expect.Equal(t, row.Find(".outcome").Text(), want, "outcome")
		href := row.Find("a[href*='/chunks/']").AttrOr("href", "")
		expect.Equal(t, x.Do("GET", href).Code, http.StatusOK, "the chunk's address is %q", href)
	})
	expect.Equal(t, doc.Find(".histogram a path.stripes").Length(), 2, "striped bars")
}

func TestTimesThatAreNoTimesAreCorrectedInPlace(t *testing.T) {
	x := withLog(t, 5, 5)
	for _, bad := range []string{"from=x", "to=yesterday", "last=2h", "last=1h&from=2026-01-01T00:00",
		"from=2026-01-02T00:00&to=2026-01-01T00:00"} {
		w := x.Do("GET", "/activity?kind=move&"+bad)
		doc := webtest.ParseHTML(t, w.Body.String())
		expect.That(t, w.Code == http.StatusBadRequest && doc.Find("main [role=alert]").Text() != "" &&
			doc.Find("form select[name=kind] [selected]").Text() == "moves", "%s: %d %q", bad, w.Code, doc.Find("main [role=alert]").Text())
		expect.Equal(t, x.Do("GET", "/api/v1/activity?"+bad).Code, http.StatusBadRequest, "JSON %s", bad)
	}
}

func TestAPastPageCountsNothingThatCameLater(t *testing.T) {
	x := withLog(t, 100, 100)
	at := begun.Add(50*time.Minute + 30*time.Second)
	x.Past.Watched(x.Watcher.Get().ClusterID, webtest.Epoch, x.Now)
	_, other, failed := countsOf(t, x, "from="+since+"&at="+answer.AtText(at))
	expect.Equal(t, other+failed, 51, "entries up to %s", at)
}
