package web_test

import (
	"encoding/csv"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

const belowPath = "/tools/board"

func below(d *site.Deps) { d.Place.Base.Root = belowPath }

// getBelow asks as a browser does: below the path, which the proxy hands on or takes off.
func getBelow(h http.Handler, handedOn bool) get {
	h = site.Below(belowPath, h)
	return func(address, accept string) *httptest.ResponseRecorder {
		if handedOn {
			address = belowPath + address
		}
		r, w := httptest.NewRequest("GET", address, nil), httptest.NewRecorder()
		r.Host = "localhost:8090"
		r.Header.Set("Accept", accept)
		h.ServeHTTP(w, r)
		return w
	}
}

// checkBelow holds every address in an answer to what the public URL has before it.
func checkBelow(prefix string) func(*testing.T, fetched) {
	return func(t *testing.T, f fetched) {
		below := func(what, address string) {
			local := strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//") && len(address) > 1
			rest, is := strings.CutPrefix(address, belowPath)
			within := is && strings.HasPrefix(rest, "/")
			expect.That(t, (!local || within || address == belowPath) && !strings.HasPrefix(rest, belowPath), "%s: %s is %s", f, what, address)
		}
		below("Location", f.Header().Get("Location"))
		if _, to, ok := strings.Cut(f.Header().Get("Refresh"), "url="); ok {
			below("Refresh", to)
		}
		for _, c := range (&http.Response{Header: f.Header()}).Cookies() {
			expect.Equal(t, c.Path, belowPath, "%s: path of the cookie %s", f, c.Name)
		}
		if f.address != "/api/openapi.json" {
			eachText(f.json, func(text string) { below("JSON", text) })
		}
		if f.is(site.MediaCSV) {
			rows, _ := csv.NewReader(strings.NewReader(f.Body.String())).ReadAll()
			for _, cell := range slices.Concat(rows...) {
				below("CSV", cell)
			}
		}
		if f.doc == nil {
			return
		}
		expect.That(t, f.Code != http.StatusOK || f.doc.Find("body.bare").Length() != 0 || f.doc.Find(`[data-base="`+prefix+`"]`).Length() != 0,
			"%s does not tell scripts where addresses begin", f)
		f.doc.Find("*").Each(func(_ int, el *goquery.Selection) {
			for _, a := range el.Nodes[0].Attr {
				switch a.Key {
				case "value", "title", "content", "placeholder", "d", "data-key", "aria-label":
				default:
					below("<"+el.Nodes[0].Data+" "+a.Key+">", a.Val)
				}
			}
		})
	}
}

// The whole site below a path of its public address: everything leads below it, whether the proxy in front hands the
// path on or takes it off.
func TestCrawlBelowAPath(t *testing.T) {
	t.Parallel()
	more := append(formsOfPlans(), "/locate?q="+webtest.ProjectID(5).Hex(), "/api/v1/find?q=set", "/api/v1/find?q=o", "/projects?page=2",
		"/?internal=1", "/activity?kind=all", "/compare?from=2026-03-01T11:00:00Z", "/nothing", "/collections/", "/login?next=/zones")
	sites := map[string]struct {
		prefix string
		change func(*site.Deps)
	}{
		"one cluster":          {belowPath, func(*site.Deps) {}},
		"a cluster of several": {belowPath + "/c/prod", atBase},
		"a server of several":  {belowPath, func(d *site.Deps) { d.Place.Clusters = webtest.Clusters() }},
		"nobody":               {belowPath, func(d *site.Deps) { d.Access.Auth = webtest.OnePerson{} }},
	}
	for name, one := range sites {
		t.Run(name, func(t *testing.T) {
			s := webtest.New(t, webtest.WithHistory(t), one.change, below)
			for _, handedOn := range []bool{true, false} {
				checks{"addresses": checkBelow(one.prefix)}.run(t, crawl(t, s.Deps, getBelow(s.Handler(), handedOn), more...))
				if testing.Short() {
					break
				}
			}
		})
	}
}

// What people send leads below the path too, and pages may say where they are as browsers have it.
func TestFormsBelowAPath(t *testing.T) {
	s := webtest.New(t, below, func(d *site.Deps) {
		d.Demo, d.Access.Auth = true, webtest.OnePerson{Who: auth.Principal{ID: "demo", Role: auth.Operator, Method: auth.ByDemo}}
	})
	for _, from := range []string{"/projects", belowPath + "/projects"} {
		r, w := httptest.NewRequest("POST", belowPath+"/tour", strings.NewReader("step=skip&from="+from)), httptest.NewRecorder()
		r.Host = "localhost:8090"
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		site.Below(belowPath, s.Handler()).ServeHTTP(w, r)
		to := w.Header().Get("Location")
		expect.That(t, w.Code == http.StatusSeeOther && to == belowPath+"/projects#main", "from %s: %d to %q: %s", from, w.Code, to, w.Body)
		c := w.Result().Cookies()
		expect.That(t, len(c) == 1 && c[0].Path == belowPath, "cookies %v", c)
	}
	if to := s.LocalPage("https://evil.example" + belowPath + "/projects"); to != "" {
		t.Error(to)
	}
}

// A path is told from an address of the server by how it begins.
func TestWhatAPathBeginsWith(t *testing.T) {
	for part, is := range map[string]bool{"shards": true, "c": true, "api": true, "static": true, "clusters": true, "live": true,
		"shards.csv": true, ".": true, "login": true, "shardboard": false, "tools": false, "shard": false} {
		expect.Equal(t, web.Begins(part), is, "%s: %v", part, !is)
	}
	for in, want := range map[string]string{belowPath: "/", belowPath + "/": "/", belowPath + "?a=b": "/?a=b", belowPath + "/x": "/x",
		belowPath + "s/x": belowPath + "s/x", "/x": "/x", "https://x" + belowPath + "/": "https://x" + belowPath + "/"} {
		expect.Equal(t, site.WithoutRoot(belowPath, in), want, "%s", in)
	}
}

func TestLiveRegionsOfAClusterLeadBelowItsBase(t *testing.T) {
	s := webtest.New(t, atBase)
	render, ok := s.Fragment("overview")
	must.That(t, ok, "no region")
	var out strings.Builder
	must.Do(t, render(t.Context(), &out, s.View()))
	if !strings.Contains(out.String(), `href="/c/prod/`) || strings.Contains(out.String(), `href="/shards`) {
		t.Error(out.String())
	}
}

func TestPagesOfTheServerAreNotPagesOfACluster(t *testing.T) {
	s := webtest.New(t, atBase)
	for _, path := range []string{"/settings", "/settings/users", "/audit", "/api/v1/tokens", "/metrics", "/healthz", "/api/openapi.json"} {
		expect.Equal(t, s.Do("GET", path).Code, http.StatusNotFound, "%s", path)
	}
}

func TestChangesOfAClusterLeadBelowItsBase(t *testing.T) {
	s := webtest.New(t, atBase, func(d *site.Deps) {
		d.Demo, d.Access.Auth = true, webtest.OnePerson{Who: auth.Principal{ID: "demo", Role: auth.Operator, Method: auth.ByDemo}}
	})
	w := s.Do("POST", "/tour", webtest.Header("Content-Type", "application/x-www-form-urlencoded"), webtest.Body("step=skip&from=/projects"))
	to := w.Header().Get("Location")
	expect.That(t, w.Code == http.StatusSeeOther && to == "/c/prod/projects#main", "%d to %q: %s", w.Code, to, w.Body)
}

func TestSignInLeadsBackToTheCluster(t *testing.T) {
	s := webtest.New(t, atBase, func(d *site.Deps) { d.Access.Auth = webtest.OnePerson{} })
	w := s.Do("GET", "/projects?page=2")
	if to := w.Header().Get("Location"); to != "/login?next=%2Fc%2Fprod%2Fprojects%3Fpage%3D2" {
		t.Error(to)
	}
}
