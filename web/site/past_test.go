package site_test

import (
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
	"shardboard/web/webtest"
)

func TestPastTimeIsRefusedByPagesOfThePresent(t *testing.T) {
	s := webtest.New(t)
	for _, p := range []string{"/heat", "/advice", "/alerts", "/layout", "/surveys", "/surveys/" + webtest.EndedSurvey,
		"/api/v1/heat/projects", "/api/v1/heat/documents",
		"/api/v1/heat/chunks", "/api/v1/heat/shards", "/api/v1/heat/map", "/api/v1/heat/range", "/api/v1/advice", "/api/v1/alerts",
		"/api/v1/layout", "/api/v1/surveys", "/api/v1/surveys/" + webtest.EndedSurvey} {
		w := s.Do("GET", p+"?at=2026-01-01T00:00:00Z")
		expect.That(t, w.Code == 400 && strings.Contains(w.Body.String(), " shows the present only: "), "%s: %d %.200s", p, w.Code, w.Body)
		w = s.Do("GET", p)
		expect.That(t, w.Code != 400 || !strings.Contains(w.Body.String(), "shows the present only"), "%s without a time: %s", p, w.Body)
	}
}

func TestAPageOfAPastTimeShowsWhatWasShownThen(t *testing.T) {
	pages := []string{
		"/", "/collections", "/collections/yorkie-meta.documents", "/projects",
		"/projects/" + webtest.ProjectID(5).Hex(), "/shards/shard-rs-1", "/zones",
	}
	x := webtest.NewPastServer(t)
	x.Move(4, "shard-rs-2")
	// What a project has, and what is written and read, is not kept.
	figures := regexp.MustCompile(`<td class="num" data-label="(Data|Writes/s)">.*?</td>|` +
		`<div class=""><dt>(Writes|Read operations|Write operations)</dt>.*?</div>`)
	shown := func(p, text string) string {
		// What the servers themselves have recorded is of the present only.
		text = strings.Replace(webtest.ShownData(t, text), `<p class="links"><a>Where its data has been</a></p>`, "", 1)
		if p == "/projects" || p == "/shards/shard-rs-1" {
			text = figures.ReplaceAllString(text, "")
		}
		return text
	}
	then := map[string]string{}
	reason := func(code string) string { return topology.ReasonDetail(code) + `">` + topology.ReasonText(code) + "<" }
	for _, p := range pages { // sizes that nobody had read then, nobody has recorded
		then[p] = strings.ReplaceAll(shown(p, x.Do("GET", p).Body.String()), reason("notLoaded"), reason("notRecorded"))
	}
	at := x.Now
	x.Move(4, "shard-rs-1")
	x.Move(8, "shard-rs-1")
	x.Now = x.Now.Add(time.Minute)
	changed := 0
	for _, p := range pages {
		w := x.Do("GET", p+"?at="+url.QueryEscape(answer.AtText(at)))
		must.That(t, w.Code == 200, "%s: %d %s", p, w.Code, w.Body)
		got := shown(p, w.Body.String())
		expect.That(t, got == then[p], "%s differs: %s", p, webtest.FirstDifference(got, then[p]))
		if now := shown(p, x.Do("GET", p).Body.String()); strings.ReplaceAll(now, reason("notLoaded"), reason("notRecorded")) != then[p] {
			changed++
		}
	}
	expect.That(t, changed >= 3, "only %d pages show another present: the comparison says nothing", changed)
}

func TestJSONOfAPastTimeIsAsItWasThen(t *testing.T) {
	x := webtest.NewPastServer(t)
	x.Move(4, "shard-rs-2")
	paths := []string{
		"/cluster", "/shards", "/shards/shard-rs-1", "/collections", "/collections/yorkie-meta.documents",
		"/collections/yorkie-meta.documents/chunks", "/collections/yorkie-meta.documents/map", "/projects?limit=5",
		"/map", "/map/yorkie-meta.documents/tile?marks=2000", "/map/yorkie-meta.documents/chunk?position=4",
		"/zones",
	}
	seq := regexp.MustCompile(`"(seq|next|version|movingMore)":("[^"]*"|\d+|null)`)      // of this process
	figures := regexp.MustCompile(`"(bytes|writes)":\{"value":[^}]*"ageSeconds"[^}]*\}`) // of projects, which are not kept
	read := func(p string) string {
		return figures.ReplaceAllString(seq.ReplaceAllString(x.Do("GET", api.Prefix+p).Body.String(), ""), "")
	}
	then := map[string]string{}
	for _, p := range paths {
		then[p] = read(p)
		if !strings.HasPrefix(p, "/projects") { // sizes that nobody had read then, nobody has recorded
			then[p] = strings.ReplaceAll(then[p], `"reason":"notLoaded"`, `"reason":"notRecorded"`)
		}
	}
	at := x.Now
	x.Move(4, "shard-rs-1")
	x.Now = x.Now.Add(time.Minute)
	for _, p := range paths {
		sep := "?"
		if strings.Contains(p, "?") {
			sep = "&"
		}
		want := then[p]
		if p == "/cluster" { // who talks to the cluster is not kept
			routers := regexp.MustCompile(`"routers":\[[^\]]*\]`)
			want = routers.ReplaceAllString(want, `"routers":[]`)
		}
		got := read(p + sep + "at=" + url.QueryEscape(answer.AtText(at)))
		expect.That(t, got == want, "%s: %s", p, webtest.FirstDifference(got, want))
	}
}

func TestPageOfThePastIsMarkedAndNotLive(t *testing.T) {
	x := webtest.NewPastServer(t)
	x.Move(4, "shard-rs-2")
	at := x.Now
	x.Move(4, "shard-rs-1")
	x.Now = x.Now.Add(3 * time.Hour)
	doc := x.Page(t, "/projects?q=a&at="+answer.AtText(at))
	bar := doc.Find("#timebar.is-past")
	expect.Contains(t, bar.Find(".looking").Text(), "You are looking at 1 Mar 2026 12:01:00 UTC (3", "the text")
	got, _ := bar.Find("a[data-step=now]").Attr("href")
	expect.Equal(t, got, "/projects?q=a", "back to now leads to")
	text := bar.Text()
	expect.That(t, strings.Contains(text, "The list of projects is the current one.") && !strings.Contains(text, "Nothing was recorded"),
		"%s", text)
	body := doc.Find("body")
	topics, _ := body.Attr("data-topics")
	expect.Equal(t, topics, "", "live topics")
	expect.Equal(t, doc.Find("#status .words").Text(), "as of 1 Mar 2026 12:01:00 UTC", "status")
	expect.That(t, doc.Find("main form[method=post]").Length() == 0 && doc.Find(".side a[href='/audit']").Length() == 0,
		"something can be done")
	// Links stay in that time, those to what has no past do not.
	want := "at=" + url.QueryEscape(answer.AtText(at))
	for _, a := range doc.Find(".side a, main .rows a").Nodes {
		for _, attr := range a.Attr {
			to, _, _ := strings.Cut(attr.Val, "?")
			timed := attr.Key == "href" && x.TimedPage(to)
			expect.That(t, attr.Key != "href" || strings.Contains(attr.Val, want) == timed, "link to %s", attr.Val)
		}
	}
	v, _ := doc.Find("form[role=search][action='/projects'] input[name=at]").Attr("value")
	expect.Equal(t, v, answer.AtText(at), "the filter leads to")
}

func TestGapsInTheHistoryAreShown(t *testing.T) {
	x := webtest.NewPastServer(t)
	gap := x.Now.Add(30 * time.Minute)
	x.Now = x.Now.Add(time.Hour)
	x.Past.Restart()
	x.Show(x.Now, webtest.WithMoved(x.Watcher.Get(), webtest.DocumentsNS, 4, "shard-rs-1"))
	x.Now = x.Now.Add(time.Minute)
	html := x.Do("GET", "/?at="+answer.AtText(gap)).Body.String()
	expect.That(t, strings.Contains(html, "Nothing was recorded then.") &&
		strings.Contains(html, "This is the state of 1 Mar 2026 12:00:00 UTC; changes until 1 Mar 2026 13:00:00 UTC may be missing."),
		"%.2000s", html)
	got := webtest.Decode[api.List[api.Shard]](t, x.Do("GET", "/api/v1/shards?at="+answer.AtText(gap)))
	expect.That(t, got.Stale && got.AsOf.Equal(webtest.Epoch), "%v %v", got.Stale, got.AsOf)
	list := webtest.Decode[api.History](t, x.Do("GET", "/api/v1/history?from="+answer.AtText(webtest.Epoch)))
	expect.That(t, len(list.Gaps) == 1 && list.Gaps[0].From.Equal(webtest.Epoch) && list.Begin.Equal(webtest.Epoch), "%+v", list)
}

func TestHostileTimesAreRefused(t *testing.T) {
	x := webtest.NewPastServer(t)
	x.Now = x.Now.Add(time.Hour)
	long := strings.Repeat("9", 60)
	for at, want := range map[string]int{
		"yesterday": 400, "2026-13-01T00:00:00Z": 400, "<script>": 400, "9223372036854775807": 400, long: 400, "1e9": 400,
		"2026-03-01": 400, "NaN": 400,
		answer.AtText(x.Now.Add(time.Second)): 400, "99999999999999": 400, "2999-01-01T00:00:00Z": 400,
		"2020-01-01T00:00:00Z": 404, "0": 404, "-5": 404, "0001-01-01T00:00:01Z": 404,
		answer.AtText(x.Now): 200, "1772366400000": 200, "2026-03-01T13:00:00+01:00": 200, "2026-03-01T12:00": 200,
	} {
		for _, path := range []string{"/", "/api/v1/shards"} {
			w := x.Do("GET", path+"?at="+url.QueryEscape(at))
			expect.That(t, w.Code == want, "%s at=%s: %d, want %d: %.300s", path, at, w.Code, want, w.Body)
			expect.That(t, (!strings.Contains(w.Body.String(), "<script>") || path == "/") && !strings.Contains(w.Body.String(), "&quot;<script>"),
				"at=%s is in the answer as it is", at)
		}
	}
	w := x.Do("GET", "/api/v1/shards?at=2020-01-01T00:00:00Z")
	expect.That(t, strings.Contains(w.Body.String(), "history of this cluster begins at 2026-03-01T12:00:00Z"), "%s", w.Body)
	without := webtest.New(t)
	w = without.Do("GET", "/?at=2026-03-01T11:00:00Z")
	expect.That(t, w.Code == 404 && strings.Contains(w.Body.String(), "There is no history: this shardboard does not record it."),
		"%d", w.Code)
	expect.Lacks(t, without.Do("GET", "/").Body.String(), "timebar", "a way into a past that is not kept")
}

func TestEachTimeHasItsOwnETag(t *testing.T) {
	x := webtest.NewPastServer(t)
	x.Move(4, "shard-rs-2")
	x.Now = x.Now.Add(time.Minute)
	tags := map[string]bool{}
	for _, q := range []string{"", "?at=" + answer.AtText(webtest.Epoch), "?at=" + answer.AtText(webtest.Epoch.Add(time.Minute))} {
		tag := x.Do("GET", "/"+q).Header().Get("ETag")
		expect.That(t, !tags[tag] && tag != "", "%q has %q", q, tag)
		tags[tag] = true
		expect.Equal(t, x.Do("GET", "/"+q, webtest.Header("If-None-Match", tag)).Code, 304, "%q", q)
	}
}

func TestTheBarStepsFromChangeToChange(t *testing.T) {
	x := webtest.NewPastServer(t)
	x.Move(4, "shard-rs-2")
	x.Move(4, "shard-rs-1")
	x.Now = x.Now.Add(time.Minute)
	page := "/collections/yorkie-meta.documents?shard=shard-rs-1"
	follow := func(page, which string) string {
		t.Helper()
		doc := x.Page(t, page)
		link, _ := doc.Find("#timebar a[data-step=" + which + "]").Attr("href")
		w := x.Do("GET", link)
		must.That(t, w.Code == 303, "%s: %d %s", link, w.Code, w.Body)
		return w.Header().Get("Location")
	}
	for i := len(x.Times) - 1; i >= 0; i-- {
		page = follow(page, "prev")
		u, _ := url.Parse(page)
		must.That(t, u.Query().Get("at") == answer.AtText(x.Times[i]) && u.Query().Get("shard") == "shard-rs-1" &&
			u.Path == "/collections/yorkie-meta.documents", "step %d leads to %s", i, page)
	}
	doc := x.Page(t, page)
	link, _ := doc.Find("#timebar a[data-step=prev]").Attr("href")
	w := x.Do("GET", link)
	expect.That(t, w.Code == 404 && strings.Contains(w.Body.String(), "history of this cluster begins at"), "before the first: %d", w.Code)
	for range x.Times[1:] {
		page = follow(page, "next")
	}
	page = follow(page, "next")
	expect.Equal(t, page, "/collections/yorkie-meta.documents?shard=shard-rs-1", "after the last")
	for _, bad := range []string{"//evil.example/", "https://evil.example/", "/\\evil.example", "/logout", "/locate",
		"javascript:alert(1)", "/nowhere"} {
		w := x.Do("GET", "/history/step?to=prev&of=change&page="+url.QueryEscape(bad))
		expect.That(t, w.Code == 400 && w.Header().Get("Location") == "", "%s: %d %s", bad, w.Code, w.Header().Get("Location"))
	}
}
