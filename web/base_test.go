package web_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/PuerkitoBio/goquery"

	"shardboard/internal/auth"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// serversOwn are addresses that are the same for all clusters.
var serversOwn = regexp.MustCompile(`^/(static|settings|logout|login|audit|data|runbooks|c/|healthz|readyz|metrics|` +
	`api/openapi\.json|api/v1/(me|sessions|tokens|users|audit|data))\b`)

func atBase(d *site.Deps) { d.Base.Prefix, d.Name = "/c/prod", "prod" }

func below(t *testing.T, from, what, address string) {
	t.Helper()
	local := strings.HasPrefix(address, "/") && !strings.HasPrefix(address, "//")
	if local && !strings.HasPrefix(address, "/c/prod/") && !serversOwn.MatchString(address) {
		t.Errorf("%s: %s leads out of the cluster, to %s", from, what, address)
	}
	if strings.HasPrefix(address, "/c/prod/") && serversOwn.MatchString(strings.TrimPrefix(address, "/c/prod")) {
		t.Errorf("%s: %s is not in the cluster: %s", from, what, address)
	}
}

// TestAddressesOfAClusterStayBelowItsBase: pages, JSON, CSV and where they lead.
func TestAddressesOfAClusterStayBelowItsBase(t *testing.T) {
	for name, s := range map[string]*webtest.Server{"standing still": webtest.New(t, atBase),
		"with a past": webtest.New(t, webtest.WithHistory(t), atBase)} {
		asked := 0
		for _, path := range append(everyAddress(), "/locate?q="+webtest.ProjectID(5).Hex(), "/api/v1/find?q=set", "/api/v1/find?q=o",
			"/projects?page=2", "/?internal=1", "/activity?kind=all", "/compare?from=2026-03-01T11:00:00Z", "/nothing") {
			if serversOwn.MatchString(path) {
				continue
			}
			w := s.Do("GET", path)
			asked++
			below(t, name+" "+path, "Location", w.Header().Get("Location"))
			if strings.Contains(w.Header().Get("Content-Type"), "json") {
				var body any
				if json.Unmarshal(w.Body.Bytes(), &body) == nil {
					addressesIn(body, func(a string) { below(t, name+" "+path, "JSON", a) })
				}
				continue
			}
			if !strings.Contains(w.Header().Get("Content-Type"), "html") {
				continue
			}
			webtest.ParseHTML(t, w.Body.String()).Find("*").Each(func(_ int, el *goquery.Selection) {
				for _, a := range el.Nodes[0].Attr {
					switch a.Key {
					case "value", "title", "content", "placeholder", "d", "data-key", "aria-label":
					default:
						below(t, name+" "+path, "<"+el.Nodes[0].Data+" "+a.Key+">", a.Val)
					}
				}
			})
			if w.Code == http.StatusOK && !strings.Contains(w.Body.String(), `data-base="/c/prod"`) {
				t.Errorf("%s %s: scripts are not told the base", name, path)
			}
		}
		if asked < 40 {
			t.Errorf("asked for %d addresses only", asked)
		}
	}
}

// addressesIn calls f with every text in JSON that looks like a local address.
func addressesIn(v any, f func(string)) {
	switch x := v.(type) {
	case map[string]any:
		for _, y := range x {
			addressesIn(y, f)
		}
	case []any:
		for _, y := range x {
			addressesIn(y, f)
		}
	case string:
		if strings.HasPrefix(x, "/") && len(x) > 1 {
			f(x)
		}
	}
}

func TestLiveRegionsOfAClusterLeadBelowItsBase(t *testing.T) {
	s := webtest.New(t, atBase)
	render, ok := s.Fragment("overview")
	if !ok {
		t.Fatal("no region")
	}
	var out strings.Builder
	if err := render(t.Context(), &out, s.View()); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(out.String(), `href="/c/prod/`) || strings.Contains(out.String(), `href="/shards`) {
		t.Error(out.String())
	}
}

func TestPagesOfTheServerAreNotPagesOfACluster(t *testing.T) {
	s := webtest.New(t, atBase)
	for _, path := range []string{"/settings", "/settings/users", "/audit", "/api/v1/tokens", "/metrics", "/healthz", "/api/openapi.json"} {
		if w := s.Do("GET", path); w.Code != http.StatusNotFound {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}

func TestChangesOfAClusterLeadBelowItsBase(t *testing.T) {
	s := webtest.New(t, atBase, func(d *site.Deps) {
		d.Demo, d.Auth = true, webtest.OnePerson{Who: auth.Principal{ID: "demo", Role: auth.Operator, Method: auth.ByDemo}}
	})
	w := s.Do("POST", "/tour", webtest.Header("Content-Type", "application/x-www-form-urlencoded"), webtest.Body("step=skip&from=/projects"))
	if to := w.Header().Get("Location"); w.Code != http.StatusSeeOther || to != "/c/prod/projects#main" {
		t.Errorf("%d to %q: %s", w.Code, to, w.Body)
	}
}

func TestSignInLeadsBackToTheCluster(t *testing.T) {
	s := webtest.New(t, atBase, func(d *site.Deps) { d.Auth = webtest.OnePerson{} })
	w := s.Do("GET", "/projects?page=2")
	if to := w.Header().Get("Location"); to != "/login?next=%2Fc%2Fprod%2Fprojects%3Fpage%3D2" {
		t.Error(to)
	}
}
