package fleet_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/message"
	"shardboard/internal/placement"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func postLines(s *webtest.Server, lines string) *httptest.ResponseRecorder {
	return s.Do("POST", "/api/v1/locate", webtest.Header("Content-Type", "text/plain"), webtest.Body(lines))
}

func TestManyLinesAreAskedOfAllClusters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := webtest.New(t, webtest.OfServer(locatable()))
		began := time.Now()
		w := postLines(s, "wiki/handbook\n\nnobody\n")
		took := time.Since(began)
		expect.That(t, took == 15*time.Second || took == 5*time.Second, "the slow cluster was waited for %s", took)
		got := webtest.Decode[api.ClusterLocateLines](t, w)
		states := map[string]string{}
		for _, c := range got.Clusters {
			states[c.Name] = c.State
			expect.Equal(t, c.State == "answered", c.Text == "", "%+v", c)
		}
		for name, want := range map[string]string{"fine": "answered", "prod": "answered", "slow": "unreachable", "archive": "unreachable",
			"viewed": "notPermitted", "without": "answered", "odd": "answered"} {
			expect.Equal(t, states[name], want, "%s", name)
		}
		_, hidden := states["secret"]
		must.That(t, !hidden && len(got.Items) == 2, "%+v", got)
		first, second := got.Items[0], got.Items[1]
		var on []string
		for _, f := range first.Found {
			on = append(on, f.Cluster)
			expect.That(t, string(f.URL) == "/c/"+f.Cluster+"/locate?q=wiki%2Fhandbook" && len(f.Shards) != 0 && f.Answer != "", "%+v", f)
		}
		expect.That(t, first.State == "found" && first.Text == "" && strings.Join(on, " ") == "fine prod lost" &&
			strings.Join(first.NotFound, " ") == "without odd" && len(first.Unknown) == 4, "%+v", first)
		expect.That(t, second.State == "unreachable" && len(second.Found) == 0 && strings.Contains(strings.Join(second.NotFound, " "), "fine"),
			"%+v", second)
	})
}

func TestManyLinesAsAPageAndAsCSV(t *testing.T) {
	all := webtest.Clusters()
	all.List = all.List[:1]
	s := webtest.New(t, webtest.OfServer(all))
	lines := url.Values{"lines": {"wiki/handbook\nnobody"}}
	doc := webtest.ParseHTML(t, s.Do("POST", "/locate/bulk", webtest.Header("Content-Type", "application/x-www-form-urlencoded"),
		webtest.Body(lines.Encode())).Body.String())
	text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
	if !strings.Contains(text, "Found 1 of 2 lines") || doc.Find(`table.bulk a[href="/c/fine/locate?q=wiki%2Fhandbook"]`).Length() != 1 ||
		!strings.Contains(text, `No project is called "nobody".`) {
		t.Error(text)
	}
	lines.Set("as", "csv")
	if csv := s.Do("POST", "/locate/bulk", webtest.Header("Content-Type", "application/x-www-form-urlencoded"),
		webtest.Body(lines.Encode())).Body.String(); strings.Count(csv, "\n") != 3 ||
		!strings.Contains(csv, "1,wiki/handbook,found,fine,document,") || !strings.Contains(csv, "2,nobody,notFound,,") {
		t.Error(csv)
	}
	for body, status := range map[string]int{"": 400, "\n \n": 400, strings.Repeat("x\n", 1001): 400, "a\x00b": 400} {
		expect.Equal(t, postLines(s, body).Code, status, "%.10q", body)
	}
	many := webtest.New(t, webtest.OfServer(webtest.ManyClusters()))
	w := postLines(many, strings.Repeat("x\n", 201))
	expect.That(t, w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), "Send 200 lines at most"), "%d %s", w.Code, w.Body)
	expect.Equal(t, s.Do("GET", "/locate/bulk").Code, http.StatusOK, "status")
}

// asking answers with near names, or that a key is somewhere.
type asking struct {
	locating.Locator
	got *placement.Query
}

func (a asking) Ask(_ context.Context, q placement.Query) (placement.Answer, error) {
	*a.got = q
	var out placement.Answer
	if q.Text != "" {
		out.Near = &placement.Near{Typed: q.Text, How: placement.NearSpelling, Projects: []placement.Project{{Name: "shop"}, {Name: "shops"}},
			More: 3}
	}
	return out, fault.New(fault.NotFound, "There is none.")
}

// remarking finds something whose name is not exactly the one that was asked for.
type remarking struct{ locating.Locator }

func (remarking) Ask(context.Context, placement.Query) (placement.Answer, error) {
	items := webtest.FoundDocument(webtest.NewStory().View())
	items[0].Notes = []message.Message{message.New("note.x", "The name differs in upper and lower case.")}
	return placement.Answer{Items: items}, nil
}

func TestNearNamesAndShardKeysAreAskedOfEachCluster(t *testing.T) {
	var got placement.Query
	all := webtest.Clusters()
	all.List = all.List[:1]
	all.List[0].Site.Deps.Locate.Locator = asking{got: &got}
	s := webtest.New(t, webtest.OfServer(all))
	near := webtest.Decode[api.List[api.ClusterLocate]](t, s.Do("GET", "/api/v1/locate?q=shp&near=1")).Items[0]
	expect.That(t, near.State == "notFound" && near.Near != nil && len(near.Near.Projects) == 2 && near.Near.More == 3, "%+v", near)
	near = webtest.Decode[api.List[api.ClusterLocate]](t, s.Do("GET", "/api/v1/locate?q=shp")).Items[0]
	expect.That(t, near.Near == nil, "near names come unasked: %+v", near.Near)
	all.List[0].Site.Deps.Locate.Locator = remarking{}
	row := webtest.Decode[api.List[api.ClusterLocate]](t, s.Do("GET", "/api/v1/locate?q=SHOP&near=1")).Items[0]
	expect.That(t, row.State == "found" && row.Text == "The name differs in upper and lower case.",
		"a near name is found without a word: %+v", row)
	all.List[0].Site.Deps.Locate.Locator = asking{got: &got}
	doc := s.Page(t, "/locate?q=shp")
	if text := doc.Find("main table").Text(); !strings.Contains(text, "and 3 more") ||
		doc.Find(`main table a[href^="/c/fine/locate?q=0000"]`).Length() != 2 {
		t.Error(text)
	}
	key := `{"doc_id":{"$oid":"65e000000000000000000001"}}`
	at := "?ns=yorkie-meta.changes&key=" + url.QueryEscape(key)
	row = webtest.Decode[api.List[api.ClusterLocate]](t, s.Do("GET", "/api/v1/locate"+at)).Items[0]
	expect.That(t, got.NS == "yorkie-meta.changes" && got.Key == key && strings.HasPrefix(string(row.URL), "/c/fine/locate?key="),
		"asked %+v, leads to %s", got, row.URL)
	doc = s.Page(t, "/locate"+at)
	expect.That(t, doc.Find("details.bykey[open]").Length() == 1 &&
		doc.Find(`input[name="key"]`).AttrOr("value", "") == key, "the page does not keep the key")
	for path, says := range map[string]string{"?q=a&ns=b&key=c": "not both", "?key=c": "Give ns= with key=", "?ns=b": "Give key= with ns=",
		"?q=a&in=projects": "one cluster", "": "Give q=", "?q=a&near=perhaps": ""} {
		w := s.Do("GET", "/api/v1/locate"+path)
		expect.That(t, w.Code == http.StatusBadRequest && strings.Contains(w.Body.String(), says), "%s: %d %s", path, w.Code, w.Body)
	}
}

func TestAPanicInOneClusterIsItsOwn(t *testing.T) {
	all := webtest.Clusters()
	all.List = all.List[:1]
	all.List[0].Site.Deps.Locate.Locator = nil
	s := webtest.New(t, webtest.OfServer(all), func(*site.Deps) {})
	row := webtest.Decode[api.List[api.ClusterLocate]](t, s.Do("GET", "/api/v1/locate?q=x")).Items[0]
	expect.That(t, row.State == "unreachable" && row.Text != "", "%+v", row)
	a := webtest.Decode[api.ClusterLocateLines](t, postLines(s, "x"))
	expect.That(t, a.Items[0].State == "unreachable", "%+v", a)
}
