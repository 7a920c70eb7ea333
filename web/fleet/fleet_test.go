package fleet_test

import (
	"strings"
	"testing"

	"shardboard/internal/answer/data"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func TestClustersAreListedWorstFirst(t *testing.T) {
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()))
	got := webtest.Decode[api.List[api.ClusterSummary]](t, s.Do("GET", "/api/v1/clusters")).Items
	var order []string
	for _, c := range got {
		order = append(order, c.Name+" "+c.State)
	}
	if list := strings.Join(order, ", "); list != "twin failed, lost unreachable, archive unreachable, prod live, new starting, fine live" {
		t.Error(list)
	}
	for _, c := range got {
		known := c.Shards != nil && c.Critical != nil && c.Bytes.Value != nil
		expect.Equal(t, known, c.State == "live" || c.Name == "lost", "%s: known: %+v", c.Name, c)
	}
	worst := got[3]
	expect.That(t, worst.Worst != "" && strings.HasPrefix(string(worst.WorstURL), "/c/prod/advice#"), "%+v", worst)
	csv := s.Do("GET", "/clusters.csv").Body.String()
	if !strings.HasPrefix(csv, "name,title,url,state,") || strings.Count(csv, "\n") != 7 || strings.Contains(csv, "secret") {
		t.Error(csv)
	}
}

func TestPageOfClustersSaysWhatIsWrongAndLeadsThere(t *testing.T) {
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()))
	doc := s.Page(t, "/")
	text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
	for _, want := range []string{"6 clusters · 3 not readable · 1 has a critical problem", "Not reachable since 2026-03-01 11:00 UTC",
		"This is the same cluster as prod", "last read 7 min ago", "Starting"} {
		expect.Contains(t, text, want, "the page")
	}
	expect.Lacks(t, text, "Secret", "a hidden cluster is listed")
	for _, link := range []string{"/c/fine/", "/c/archive/", "/c/prod/", "/clusters.csv"} {
		expect.That(t, doc.Find(`main a[href="`+link+`"]`).Length() != 0, "no link to %s", link)
	}
	expect.That(t, doc.Find("nav a[href='/projects'], #shards").Length() == 0 && doc.Find("nav a[href='/']").Length() != 0,
		"the page leads to pages that only a cluster has")
}

func TestServersTextsAndConfigurationAreForThoseWhoMaySeeThem(t *testing.T) {
	c := webtest.Clusters()
	c.Config.Failed, c.Config.Problem = webtest.Epoch, "shardboard.yaml:3: there is no key x."
	for role, sees := range map[auth.Role]bool{auth.Viewer: false, auth.Operator: false, auth.Admin: true} {
		s := webtest.New(t, webtest.OfServer(c), func(d *site.Deps) {
			d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "user:1", Name: "a", Role: role, Method: auth.ByPassword}}
		})
		expect.Equal(t, strings.Contains(s.Do("GET", "/").Body.String(), "shardboard.yaml:3"), sees, "%s sees the mistake", role)
	}
}

func TestClustersAreFoundFromEveryPage(t *testing.T) {
	list := webtest.Clusters()
	server := webtest.New(t, webtest.OfServer(list))
	within := webtest.New(t, func(d *site.Deps) {
		d.Place.Clusters, d.Place.Name, d.Place.Title, d.Place.Base.Prefix = list, "fine", "Fine", "/c/fine"
	})
	for name, s := range map[string]*webtest.Server{"server": server, "cluster": within} {
		found := webtest.Decode[api.Found](t, s.Do("GET", "/api/v1/find?q=production"))
		expect.That(t, len(found.Items) == 1 && found.Items[0].URL == "/c/prod/" && found.Items[0].Kind == "cluster",
			"%s: %+v", name, found.Items)
		expect.Len(t, webtest.Decode[api.Found](t, s.Do("GET", "/api/v1/find?q=secret")).Items, 0, "%s finds a hidden cluster", name)
	}
	doc := within.Page(t, "/")
	n := doc.Find("#clusters a").Length()
	expect.That(t, n == 7 && doc.Find(`#clusters a[href="/c/prod/"]`).Length() == 1 &&
		doc.Find(`#clusters a[aria-current="page"]`).Text() == "Fine", "%d links in the switch", n)
}

// storeAway is a store that does not answer.
type storeAway struct{ data.DataDirectory }

func (storeAway) Condition() store.Condition {
	return store.Condition{Hold: store.Unreachable, Err: fault.New(fault.Unavailable, "It does not answer.")}
}

func TestStatusOfTheServerSaysThatTheStoreDoesNotAnswer(t *testing.T) {
	s := webtest.New(t, webtest.OfServer(webtest.Clusters()), func(d *site.Deps) { d.Store.Data = storeAway{} })
	header := s.Page(t, "/").Find("header").Text()
	expect.That(t, strings.Contains(header, "the store does not answer") && !strings.Contains(header, "Live"),
		"the header says %s", strings.Join(strings.Fields(header), " "))
}
