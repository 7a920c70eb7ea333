package fleet_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"shardboard/internal/answer/locating"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/placement"
	"shardboard/internal/profile"
	"shardboard/web/guard"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

// locator answers with an error, or only when nobody waits any longer.
type locator struct {
	locating.Locator
	err error
}

func (l locator) Ask(ctx context.Context, _ placement.Query) (placement.Answer, error) {
	if l.err == nil {
		<-ctx.Done()
		return placement.Answer{}, ctx.Err()
	}
	return placement.Answer{}, l.err
}

// locatable are a cluster for each way to answer.
func locatable() webtest.StubClusters {
	with := func(name string, role auth.Role, l locator) *site.Cluster {
		c := webtest.ClusterWith(name, strings.ToUpper(name), webtest.NewStory().View(), role)
		c.Site.Deps.Locate.Locator = l
		return c
	}
	list := webtest.Clusters() // archive, twin and new have no pages, secret is hidden
	for _, c := range list.List[:6] {
		c.Role = func(auth.Principal) (auth.Role, bool) { return auth.Support, true }
	}
	list.List = append([]*site.Cluster{
		with("viewed", auth.Viewer, locator{}),
		with("without", auth.Operator, locator{err: fault.New(fault.NotFound, "There is none.")}),
		with("odd", auth.Operator, locator{err: fault.New(fault.Invalid, "It cannot be read.")}),
		with("slow", auth.Operator, locator{}),
	}, list.List...)
	return list
}

func TestLocateAsksAllClustersAtOnceAndNamesThoseWithAnAnswerFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := webtest.New(t, webtest.OfServer(locatable()))
		began := time.Now()
		got := webtest.Decode[api.List[api.ClusterLocate]](t, s.Do("GET", "/api/v1/locate?q=wiki/handbook")).Items
		expect.Equal(t, time.Since(began), 5*time.Second, "the slow cluster was waited for")
		var list []string
		for _, c := range got {
			list = append(list, c.Name+" "+c.State)
			switch {
			case (c.State == "found") != (len(c.Found) == 1 && c.Text == "" && c.Found[0].Answer != "" && len(c.Found[0].Shards) > 0):
				t.Errorf("%+v", c)
			case c.State == "found" && string(c.Found[0].URL) != "/c/"+c.Name+"/locate?q=wiki%2Fhandbook":
				t.Errorf("%s leads to %s", c.Name, c.Found[0].URL)
			case c.State != "found" && c.Text == "":
				t.Errorf("%s does not say why nothing was found", c.Name)
			}
		}
		want := "fine found, prod found, lost found, slow unreachable, archive unreachable, twin unreachable, new unreachable, " +
			"odd invalid, without notFound, viewed notPermitted"
		if text := strings.Join(list, ", "); text != want {
			t.Errorf("%s, want %s", text, want)
		}
		expect.That(t, got[3].Text == "It did not answer within 5 seconds." && got[9].URL == "" && got[2].Stale && !got[0].Stale, "%+v", got)
		doc := s.Page(t, "/locate?q=wiki/handbook")
		text := strings.Join(strings.Fields(doc.Find("main").Text()), " ")
		expect.ContainsAll(t, text, []string{"Found in 3 of 5 clusters that answer · 4 not known · 1 not permitted",
			"needs the role support on this cluster", "not up to date", "There is none."}, "the page")
		if doc.Find(`main a[href="/c/fine/locate?q=wiki%2Fhandbook"]`).Length() == 0 || strings.Contains(text, "Secret") {
			t.Error(text)
		}
		if csv := s.Do("GET", "/locate.csv?q=wiki/handbook").Body.String(); strings.Count(csv, "\n") < 11 || strings.Contains(csv, "ecret") {
			t.Error(csv)
		}
	})
}

func TestLocateInAllClustersFindsNamesAndSaysWhatItDoesNotKnow(t *testing.T) {
	all := webtest.Clusters()
	all.List = all.List[:3]
	all.List[2].Role = func(auth.Principal) (auth.Role, bool) { return auth.Support, true }
	s := webtest.New(t, webtest.OfServer(all))
	for q, want := range map[string]string{
		"nobody": "lost unreachable [], fine notFound [], prod notPermitted []",
		"yorkie-meta.documents": "fine found [/c/fine/collections/yorkie-meta.documents], lost found " +
			"[/c/lost/collections/yorkie-meta.documents], prod notPermitted []",
	} {
		var list []string
		for _, c := range webtest.Decode[api.List[api.ClusterLocate]](t, s.Do("GET", "/api/v1/locate?q="+q)).Items {
			var to []string
			for _, f := range c.Found {
				to = append(to, string(f.URL))
			}
			list = append(list, fmt.Sprint(c.Name, " ", c.State, " ", to))
		}
		expect.Equal(t, strings.Join(list, ", "), want, "%s", q)
	}
	for path, status := range map[string]int{"/locate": 200, "/locate?q=+": 200, "/api/v1/locate": 400, "/api/v1/locate?q=+": 400,
		"/locate?q=" + strings.Repeat("x", placement.MaxQueryBytes+1): 400, "/locate?q=nobody": 200} {
		expect.Equal(t, s.Do("GET", path).Code, status, "%.40s", path)
	}
}

func TestEachClusterThatIsAskedCountsForThePerson(t *testing.T) {
	s := webtest.New(t, webtest.OfServer(webtest.ManyClusters()), func(d *site.Deps) {
		d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "user:1", Name: "a", Role: auth.Viewer, Method: auth.ByPassword}}
	})
	for _, c := range s.Deps.Place.Clusters.All() {
		c.Role = func(auth.Principal) (auth.Role, bool) { return auth.Support, true }
	}
	var got []int
	for range guard.LocateBurst/50 + 1 {
		got = append(got, s.Do("GET", "/api/v1/locate?q=nobody").Code)
	}
	want := []int{200, 200, 200, 200, http.StatusTooManyRequests}
	expect.Equal(t, fmt.Sprint(got), fmt.Sprint(want), "%v, want %v", got, want)
}

func TestBoxToLocateIsForThoseWhoMayDoSoSomewhere(t *testing.T) {
	for role, may := range map[auth.Role]bool{auth.Viewer: false, auth.Support: true} {
		list := webtest.Clusters()
		list.List[0].Role = func(auth.Principal) (auth.Role, bool) { return role, true }
		s := webtest.New(t, webtest.OfServer(list), func(d *site.Deps) {
			d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "user:1", Name: "a", Role: auth.Viewer, Method: auth.ByPassword}}
		})
		doc := s.Page(t, "/")
		palette, _ := doc.Find("#palette template").Attr("data-locates")
		if doc.Find(`form.find[action="/locate"] #find`).Length() == 1 != may || doc.Find(`nav a[href="/locate"]`).Length() > 0 != may ||
			palette == "/locate?q=" != may {
			t.Errorf("%s: box, navigation or palette is not %v", role, may)
		}
	}
}

// Clusters of one application speak its words on the page of all; those of two have no word in common but ours.
func TestLocateInAllClustersSpeaksTheWordsThatTheyShare(t *testing.T) {
	all := webtest.Clusters()
	shop := profile.Profile{Tenants: profile.Called{One: "Shop", Many: "Shops"}, Called: profile.Called{One: "Order", Many: "Orders"}}
	for _, c := range all.List {
		if c.Site != nil {
			c.Site.Deps.Cluster.Profile = &shop
		}
	}
	s := webtest.New(t, webtest.OfServer(all))
	words := func(path string) string {
		return s.Page(t, path).Find("#q, #lines").AttrOr("placeholder", "")
	}
	one, many := words("/locate"), words("/locate/bulk")
	expect.That(t, one == "shop/document key, shop, or any id" && many == "shop/document key, shop, id or log line", "%q, %q", one, many)
	for _, c := range all.List {
		if c.Site != nil {
			c.Site.Deps.Cluster.Profile = profile.Yorkie()
			break
		}
	}
	one = words("/locate")
	expect.That(t, one == "project/document key, project, or any id", "%q", one)
}
