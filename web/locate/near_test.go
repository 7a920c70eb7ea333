package locate_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/answer"
	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/placement"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// newServer has a locator that knows the projects and the table, and cannot read rows.
func newServer(t *testing.T) *webtest.Server {
	return webtest.New(t, func(d *site.Deps) {
		d.Locate.Locator = placement.NewLocator(nil, d.Cluster.Watcher, d.Cluster.Keeper, d.Cluster.Profile)
	})
}

// plainProject is a project that Yorkie would have named so.
func plainProject(s *webtest.Server) placement.Project {
	all := s.Keeper.Value.All()
	return all[slices.IndexFunc(all, func(p placement.Project) bool { return regexp.MustCompile(`^[a-z][a-z0-9-]+$`).MatchString(p.Name) })]
}

func TestNearNameIsShownWithANoteAndNeverToPrograms(t *testing.T) {
	s := newServer(t)
	name := plainProject(s).Name
	typed := url.QueryEscape(strings.ToUpper(name))
	page := s.Do("GET", "/locate?q="+typed)
	expect.That(t, page.Code == http.StatusOK && strings.Contains(page.Body.String(), "No project has exactly this name; this is"),
		"the page: %d", page.Code)
	w := s.Do("GET", "/api/v1/locate?q="+typed)
	expect.That(t, w.Code == http.StatusNotFound && strings.Contains(w.Body.String(), "Did you mean"), "a program: %d %s", w.Code, w.Body)
	got := webtest.Decode[api.LocateAnswer](t, s.Do("GET", "/api/v1/locate?near=1&q="+typed))
	expect.That(t, len(got.Items) == 1 && got.Near != nil && got.Near.How == "case" && got.Ticket != nil &&
		strings.Contains(got.Ticket.Text, "No project has exactly this name"), "a program that allows near names: %+v", got)
}

func TestSeveralNearNamesAreLinksAndTheStatusIsNotFound(t *testing.T) {
	s := newServer(t)
	project := plainProject(s)
	typed := project.Name + "~" // a guess, which is never taken
	w := s.Do("GET", "/locate?q="+url.QueryEscape(typed))
	doc := webtest.ParseHTML(t, w.Body.String())
	link := doc.Find(".near a").First()
	expect.That(t, w.Code == http.StatusNotFound && link.AttrOr("href", "") == "/locate?q="+project.ID.Hex() &&
		strings.Contains(doc.Find(".near").Text(), "No project has exactly this name"), "%d %s", w.Code, doc.Find(".near").Text())
	var offers []string
	doc.Find(".wider a").Each(func(_ int, a *goquery.Selection) { offers = append(offers, a.Text()+" "+a.AttrOr("href", "")) })
	expect.That(t, len(offers) == 2 && strings.Contains(offers[0], "Search this key in all") && strings.Contains(offers[0], "at most 4 s") &&
		strings.HasSuffix(offers[0], "&in=projects") && strings.HasSuffix(offers[1], "&in=collections"), "offers %q", offers)
}

func TestNamesThatBeginWithTheTextAreMatches(t *testing.T) {
	s := newServer(t)
	names := map[string]int{}
	for _, p := range s.Keeper.Value.All() {
		if begin, _, ok := strings.Cut(p.Name, "-"); ok && regexp.MustCompile(`^[a-z]{3,}$`).MatchString(begin) {
			names[begin]++
		}
	}
	for begin, n := range names {
		if n < 2 {
			continue
		}
		w := s.Do("GET", "/locate?q="+begin)
		doc := webtest.ParseHTML(t, w.Body.String())
		expect.That(t, w.Code == http.StatusOK && doc.Find(".near a").Length() >= 2 && doc.Find("[role=alert]").Length() == 0,
			"%s: %d, %d matches, %q", begin, w.Code, doc.Find(".near a").Length(), doc.Find("[role=alert]").Text())
		return
	}
	t.Error("no two projects begin with the same word")
}

func TestManyMatchesOfAKeyAreATableThatLeadsToEach(t *testing.T) {
	s := webtest.New(t)
	s.Locator.Answer = func(placement.Query) (items []placement.Item, err error) {
		for _, p := range s.Keeper.Value.All()[:5] {
			items = append(items, placement.Item{Kind: "document", ID: p.ID.Hex(), Name: "plan", DB: p.DB, Project: &p,
				Places: []placement.Place{{NS: "yorkie-meta.documents", Shards: []string{"shard-rs-1"}, Exact: true, Exists: "yes"}}})
		}
		return items, nil
	}
	doc := s.Page(t, "/locate?q=plan&in=projects")
	n := doc.Find(".matches tbody tr").Length()
	expect.That(t, n == 5 && doc.Find(".located").Length() == 0, "%d rows", n)
	first := s.Keeper.Value.All()[0]
	expect.Equal(t, doc.Find(".matches a").First().AttrOr("href", ""), "/locate?q="+first.ID.Hex()+"%2Fplan",
		"the link of the first")
}

func TestTicketFollowsTheAnswer(t *testing.T) {
	s := webtest.New(t)
	webtest.WithLocatable(s)
	doc := s.Page(t, "/locate?q=p/d")
	if doc.Find("#locate > .located ~ .copyable").Length() != 1 || !strings.Contains(doc.Find("#ticket-text").Text(), "shard-rs-2") {
		t.Errorf("ticket: %s", doc.Find("#ticket-text").Text())
	}
	var api struct {
		Ticket struct{ Text, Markdown string }
	}
	err := json.Unmarshal(s.Do("GET", "/api/v1/locate?q=p/d").Body.Bytes(), &api)
	expect.That(t, err == nil && api.Ticket.Text == doc.Find("#ticket-text").Text() &&
		api.Ticket.Markdown == doc.Find("#ticket-markdown").Text(), "%v: %+v", err, api)
}

// Examples have ids as they are stored, not what stands for them in addresses.
func TestAnExampleOfAnIDIsTheStoredOne(t *testing.T) {
	s := newServer(t)
	dir := s.Keeper.Value
	all := slices.Clone(dir.All())
	for i := range all {
		kind, data, err := bson.MarshalValue(fmt.Sprintf("tenant-%d", i))
		must.Do(t, err)
		all[i].ID, all[i].Stored, _ = placement.IDOf(bson.RawValue{Type: kind, Value: data})
	}
	s.Keeper.Value = placement.NewDirectory(dir.Seq(), dir.Databases(), all, dir.Health())
	examples := s.Page(t, "/locate").Find("ul.examples code")
	second := examples.Eq(1).Text()
	expect.That(t, strings.HasPrefix(second, "tenant-"), "the id is %q", second)
}

func TestAnAddressOfThisDashboardLeadsToItsPage(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	shard := answer.ShardURL(s.Watcher.Value.Shards[0].Name) // a hostile name
	coll := answer.CollectionURL(s.Watcher.Value.Collections[0].NS)
	for _, to := range []string{
		shard, coll, coll + "?key=42#chunks", coll + "/chunks/abc", "/checks/duplicates",
		"/projects/65e000000000000000000001?shard=s#on-shard",
	} {
		for _, text := range []string{to, " http://localhost:8090" + to, "https://LOCALHOST:8090" + to} {
			w := s.Do("GET", "/locate?q="+url.QueryEscape(text))
			expect.That(t, w.Code == 303 && w.Header().Get("Location") == to,
				"%q: %d to %q, want %q", text, w.Code, w.Header().Get("Location"), to)
		}
	}
}

func TestOtherAddressesLeadNowhereByThemselves(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	shard := "plain"
	for text, offered := range map[string]bool{
		"http://evil.example/shards/" + shard: true, "//evil.example/shards/" + shard: true,
		"http://localhost:8090@evil.example/shards/" + shard: false, "javascript:alert(1)": false, "/": false, "/api/v1/cluster": false,
		"http://localhost:8090/api/v1/cluster": false, "/static/app.css": false, `/\evil.example`: false, "/shards/../api": false,
		"http://localhost:8090/logout": false, "http://localhost:8090//evil.example/": false, "/locate": false,
	} {
		w := s.Do("GET", "/locate?q="+url.QueryEscape(text))
		expect.That(t, w.Code != 303, "%q leads to %q", text, w.Header().Get("Location"))
		expect.Equal(t, strings.Contains(w.Body.String(), `another dashboard`), offered,
			"%q: whether the page here is offered", text)
	}
}

func TestAShardOrCollectionByNameIsFoundThoughItIsNoPlace(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	for text, to := range map[string]string{"SHARD-RS-2": "/shards/shard-rs-2", "yorkie-meta.changes": "/collections/yorkie-meta.changes"} {
		w := s.Do("GET", "/locate?q="+url.QueryEscape(text))
		if w.Code != 200 || !strings.Contains(w.Body.String(), `href="`+to+`"`) || strings.Contains(w.Body.String(), `role="alert"`) {
			t.Errorf("%q: %d, no link to %s", text, w.Code, to)
		}
	}
}

func TestANumberWaitsForItsCollection(t *testing.T) {
	s := webtest.New(t)
	s.Deps.Locate.Locator = realLocator(s)
	body := s.Do("GET", "/locate?q="+url.QueryEscape(`NumberLong("42")`)).Body.String()
	expect.ContainsAll(t, body, []string{`<details class="bykey" open`, `name="key" value="NumberLong(&#34;42&#34;)"`,
		"Read as a number"}, "the page")
}
