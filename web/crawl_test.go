package web_test

import (
	"encoding/json"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/actions"
	"shardboard/internal/answer"
	"shardboard/internal/answer/problems"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/only"
	"shardboard/internal/placement"
	"shardboard/internal/topology"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// fetched is an answer to a GET of a crawl.
type fetched struct {
	*httptest.ResponseRecorder
	route   site.Route // has a pattern only where the address is not of the route table
	address string
	media   string            // that was asked for
	doc     *goquery.Document // of a page; nil for other answers
	json    any               // of JSON; nil for other answers
}

func (f fetched) String() string { return f.media + " " + f.address }

func (f fetched) is(media string) bool {
	return strings.HasPrefix(f.Header().Get("Content-Type"), media)
}

// get asks for an address.
type get func(address, accept string) *httptest.ResponseRecorder

func getFrom(s *webtest.Server) get {
	return func(address, accept string) *httptest.ResponseRecorder {
		return s.Do("GET", address, webtest.Header("Accept", accept))
	}
}

// crawl fetches each route that a site serves once in each of its media, and other addresses.
func crawl(t *testing.T, deps site.Deps, from get, more ...string) (all []fetched) {
	t.Helper()
	fetch := func(rt site.Route, address, media string) {
		f := fetched{ResponseRecorder: from(address, media), route: rt, address: address, media: media}
		switch {
		case f.is(site.MediaHTML):
			f.doc = webtest.ParseHTML(t, f.Body.String())
		case strings.Contains(f.Header().Get("Content-Type"), "json"):
			expect.NoError(t, json.Unmarshal(f.Body.Bytes(), &f.json), "%s", f)
		}
		all = append(all, f)
	}
	for _, rt := range web.Served(deps) {
		if rt.Method != http.MethodGet || rt.Pattern == "/live" {
			continue
		}
		address := exampleOf(rt)
		for i, media := range rt.Types {
			if i == 0 || rt.Tag != site.TagPages {
				fetch(rt, address, media)
			}
		}
	}
	for _, address := range more {
		media := site.MediaHTML
		if strings.HasPrefix(address, "/api/") {
			media = site.MediaJSON
		}
		fetch(site.Route{Pattern: address, Tag: site.TagPages}, address, media)
	}
	expect.That(t, len(all) >= 80, "only %d answers", len(all))
	return all
}

// exampleOf is an address of a route.
func exampleOf(rt site.Route) string { return withSmallModel(webtest.AddressOf(rt.Pattern)) }

// withSmallModel asks for a small model at addresses of the lab, whose models are large unless somebody says otherwise.
func withSmallModel(address string) string {
	for model, small := range map[string]string{"/lab/keys": "rows=200&shards=3", "/lab/ids": "inserts=200&shards=3"} {
		if path, query, _ := strings.Cut(address, "?"); strings.Contains(path, model) {
			return path + "?" + small + "&" + query
		}
	}
	return address
}

// formsOfPlans are the addresses of the forms of all changes.
func formsOfPlans(more ...string) (out []string) {
	for _, d := range actions.Descriptions() {
		out = append(out, answer.PlanURL(d.Kind, more...))
	}
	return out
}

// checks are what is true of every answer of a crawl. Each is a sub-test that names the address.
type checks map[string]func(t *testing.T, f fetched)

func (c checks) run(t *testing.T, all []fetched) {
	for _, name := range slices.Sorted(maps.Keys(c)) {
		t.Run(name, func(t *testing.T) {
			for _, f := range all {
				c[name](t, f)
			}
		})
	}
}

// One shard and one project have a name that is markup and a formula at once.
func TestCrawlOfTheCannedCluster(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, webtest.WithHistory(t))
	schemas := site.NewSchemas()
	none := map[string]int{"/history/step": 400, "/profile.yaml": 404, "/api/v1/locate": 404,
		"/static/none.css": 404, "/static/js/none.css": 404}
	checks{
		"answers": func(t *testing.T, f fetched) {
			if want := none[f.address]; f.Code != want && (want != 0 || f.Code != http.StatusOK && f.Code != http.StatusSeeOther) {
				t.Errorf("%s: %d %.200s", f, f.Code, f.Body)
			}
		},
		"headers of safety": func(t *testing.T, f fetched) { checkSafe(t, f.String(), f.ResponseRecorder) },
		"whole pages": func(t *testing.T, f fetched) {
			if f.doc != nil && f.Code == http.StatusOK {
				for _, fault := range webtest.FaultsOfPage(f.doc) {
					t.Errorf("%s: %s", f, fault)
				}
			}
		},
		"names in JSON are no markup": func(t *testing.T, f fetched) {
			expect.That(t, f.json == nil || !strings.ContainsAny(f.Body.String(), "<>&\u2028\u2029"), "%v", f)
		},
		"sheets have no formula":        checkSheet,
		"JSON is as it is described":    func(t *testing.T, f fetched) { checkSchema(t, schemas.Of, schemas.Named, f) },
		"HEAD answers as GET, bodiless": func(t *testing.T, f fetched) { checkHead(t, s, f) },
	}.run(t, crawl(t, s.Deps, getFrom(s), formsOfPlans()...))
}

// Of a server of several clusters, one cluster's pages, JSON and CSV lead to its own pages.
func TestCrawlBelowTheBaseOfACluster(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, webtest.WithHistory(t), atBase)
	checks{
		"addresses": checkBase,
		"base is in the page": func(t *testing.T, f fetched) {
			expect.That(t, f.doc == nil || f.Code != http.StatusOK || f.doc.Find(`[data-base="/c/prod"]`).Length() != 0, "%v", f)
		},
	}.run(t, crawl(t, s.Deps, getFrom(s), "/locate?q="+webtest.ProjectID(5).Hex(), "/api/v1/find?q=set", "/api/v1/find?q=o",
		"/projects?page=2", "/?internal=1", "/activity?kind=all", "/compare?from=2026-03-01T11:00:00Z", "/nothing"))
}

// Twelve shards, of which one has a pinned project, so that orders and names can be told.
func TestCrawlOfTwelveShards(t *testing.T) {
	only.Long(t, "thousands of pages")
	t.Parallel()
	s, v, p := pinnedProject(t, "Vega Boards", 12)
	c := v.Table.Collection(webtest.DocumentsNS)
	ref := answer.ChunkRef(c, c.Chunks.At(3).Min)
	more := append(formsOfPlans("ns", string(c.NS), "chunk", ref, "project", p.ID.Hex(), "zone", answer.PinZone(p.ID)),
		"/matrix?by=projects", "/api/v1/matrix?by=projects", "/locate?q="+p.ID.Hex(), "/locate?q="+p.ID.Hex()+"&why=1",
		"/projects/"+p.ID.Hex(), answer.ChunkURL(c.NS, ref), answer.ChunkURL(c.NS, answer.ChunkRef(c, c.Chunks.At(2).Min)))
	for _, plan := range []string{"split", "move", "pin", "isolate", "blocked", "done", "hot"} {
		more = append(more, "/plans/"+webtest.RecordID(plan))
	}
	all := crawl(t, s.Deps, getFrom(s), more...)
	lists := 0
	checks{
		"lists are in natural order": func(t *testing.T, f fetched) { lists += checkOrder(t, f) },
		"names stand beside ids":     func(t *testing.T, f fetched) { checkNames(t, v, f) },
	}.run(t, all)
	expect.That(t, lists >= 40, "only %d lists of shards were found", lists)
	t.Run("links lead to pages", func(t *testing.T) { checkLinks(t, s, all) })
}

// A viewer on a server that hides bounds, of a cluster with counted writes, moves and problems.
func TestCrawlOfAViewerWhoSeesNoBounds(t *testing.T) {
	t.Parallel()
	s, v := chunkTrouble(t)
	project := v.Dir.All()[3].ID.Hex()
	bounds := newTexts(boundTexts(v))
	viewer, support := seenBy(s, auth.Viewer), seenBy(s, auth.Support)
	as := func(who *site.Site) get {
		return func(address, accept string) *httptest.ResponseRecorder {
			r, w := httptest.NewRequest("GET", address, nil), httptest.NewRecorder()
			r.Host = "localhost:8090"
			r.Header.Set("Accept", accept)
			who.Handler().ServeHTTP(w, r)
			return w
		}
	}
	checks{
		"no bound and no text of a server": func(t *testing.T, f fetched) {
			body := f.Body.String()
			text := bounds.in(body)
			expect.That(t, text == "", "%s shows %q: …%.300s", f, text, body[max(strings.Index(body, text)-150, 0):])
			expect.Lacks(t, body, serverSaid, "%s shows what a server said", f)
		},
		"no link to nowhere": func(t *testing.T, f fetched) {
			expect.Lacks(t, f.Body.String(), `href=""`, "%v", f)
		},
		"what the role allows": func(t *testing.T, f fetched) {
			need, _ := f.route.Policy.Needs()
			if strings.Contains(f.route.Pattern, "{ref}") {
				return // its address has a bound
			}
			denied := !auth.Viewer.Includes(need) && need != ""
			expect.That(t, denied == (f.Code == http.StatusForbidden) && (f.Code < 500 || f.Code == 503), "%s: %d, needs %q", f, f.Code, need)
		},
	}.run(t, crawl(t, viewer.Deps, as(viewer), hiddenPaths(project)...))
	seen := 0
	for _, path := range hiddenPaths(project) {
		if bounds.in(as(support)(path, "*/*").Body.String()) != "" {
			seen++
		}
	}
	expect.That(t, seen >= 12, "support sees bounds at %d addresses", seen)
}

// Everything that can be asked while nothing was ever read of the cluster: no answer claims to know something of it,
// and each says why nothing is known.
func TestCrawlOfAClusterThatWasNeverRead(t *testing.T) {
	for name, c := range map[string]struct {
		why     topology.Health
		history bool
		says    string
	}{
		"never reached":                  {webtest.NeverReached, false, "The cluster is not reached"},
		"never reached, with a history":  {webtest.NeverReached, true, "The cluster is not reached"},
		"reached, without any privilege": {webtest.ReachedWithoutRights, false, "The cluster user may not read the routing table"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			v := webtest.Unreached(c.why)
			options := []func(*site.Deps){func(d *site.Deps) { d.Changes.PlanForms = true }}
			if c.history {
				v.Table.ClusterID = webtest.CannedTable(1, 250).ClusterID
				options = append(options, webtest.WithHistory(t))
			}
			s := webtest.New(t, options...)
			s.Watcher.Value, s.Keeper.Value = v.Table, v.Dir
			s.Locator.Answer = func(placement.Query) ([]placement.Item, error) { return nil, v.Table.NotLoaded() }
			more := append(formsOfPlans("ns", string(webtest.DocumentsNS), "project", webtest.ProjectID(5).Hex(), "shard", "shard-rs-1"),
				"/locate?q=wiki/handbook", "/projects?q=a", "/activity?kind=all&last=7d", "/map?ns=yorkie-meta.changes")
			for _, f := range crawl(t, s.Deps, getFrom(s), more...) {
				checkUnknown(t, f, c.says)
			}
		})
	}
}

// A cluster that was read, and is gone: every page says since when, and shows what was read as old.
func TestCrawlOfAClusterThatIsGone(t *testing.T) {
	t.Parallel()
	s := webtest.New(t, webtest.WithHistory(t))
	gone := *s.Watcher.Value
	gone.Health = map[topology.Part]topology.Health{}
	for _, p := range problems.AllParts {
		gone.Health[p] = topology.Health{At: webtest.Epoch.Add(-7 * time.Minute), Err: webtest.NeverReached.Err}
	}
	dir := s.Keeper.Value
	s.Watcher.Value, s.Keeper.Value = &gone, placement.NewDirectory(dir.Seq(), dir.Databases(), dir.All(), gone.Health[topology.PartRouting])
	for _, f := range crawl(t, s.Deps, getFrom(s)) {
		switch {
		case f.Code == http.StatusInternalServerError:
			t.Errorf("%s: %d %.300s", f, f.Code, f.Body)
		case f.route.Tag == site.TagPages && f.doc != nil:
			expect.Contains(t, f.doc.Find("main").Text(), "The cluster does not answer. Pages show it as it was at ",
				"%s: %d does not say that the cluster is gone", f, f.Code)
		case f.Code == http.StatusOK && strings.Contains(f.Body.String(), `"stale":false`) && !aboutOurselves.MatchString(f.route.Pattern):
			t.Errorf("%s says that it is new: %.300s", f, f.Body)
		}
	}
}

// What is refused, and what is not there, has the headers of safety as well, and tells nothing of what is inside.
func TestRefusalsHaveTheHeadersOfSafetyToo(t *testing.T) {
	s := webtest.New(t)
	foreign := func(r *http.Request) { r.Host = "evil.example" }
	for _, a := range []struct {
		method, address string
		change          func(*http.Request)
	}{
		{"GET", "/nothing", nil}, {"GET", "/shards/none", nil}, {"GET", "/projects/zzz", nil}, {"PUT", "/", nil}, {"OPTIONS", "/", nil},
		{"TRACE", "/", nil}, {"MADE-UP", "/", nil}, {"GET", "/?q=%zz", nil}, {"GET", "/live?t=none", nil}, {"GET", "/static/none.js", nil},
		{"GET", "/%00", nil}, {"GET", "/api/v1/chunks/..%2f", nil}, {"POST", "/nothing", webtest.Header("Sec-Fetch-Site", "cross-site")},
		{"GET", "/", foreign}, {"GET", "/api/v1/shards", foreign}, {"POST", "/plans", foreign},
		{"GET", "/live?t=overview", webtest.Header("Origin", "https://evil.example")},
		{"POST", "/api/v1/locate", webtest.Body(strings.Repeat("x", 1<<20))}, {"POST", "/collections", webtest.Header("Accept", "text/csv")},
	} {
		if a.change == nil {
			a.change = func(*http.Request) {}
		}
		w := s.Do(a.method, a.address, a.change)
		checkSafe(t, a.method+" "+a.address, w)
		inside := internals.FindString(w.Body.String())
		expect.That(t, inside == "" && w.Code >= 400, "%s %s: %d speaks of %q", a.method, a.address, w.Code, inside)
	}
}
