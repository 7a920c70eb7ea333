package find_test

import (
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

func found(t *testing.T, s *webtest.Server, q string) (names []string, a api.Found) {
	t.Helper()
	a = webtest.Decode[api.Found](t, s.Do("GET", "/api/v1/find?q="+url.QueryEscape(q)))
	for _, x := range a.Items {
		names = append(names, x.Kind+" "+x.Name)
	}
	return names, a
}

func TestFewCharactersFindWhatTheyBegin(t *testing.T) {
	s := webtest.New(t)
	shard := s.Watcher.Value.Shards[1].Name
	project := s.Keeper.Value.All()[0]
	collection := string(s.Watcher.Value.Collections[0].NS)
	for _, c := range []struct{ q, first string }{
		{"zon", "page Zones"}, {"ZONES", "page Zones"}, {shard, "shard " + shard},
		{strings.ToUpper(project.Name), "project " + project.Name},
		{project.ID.Hex()[:12], "project " + project.Name}, {collection, "collection " + collection},
		{"balancer off", "change Turn the balancer off…"},
	} {
		names, _ := found(t, s, c.q)
		expect.That(t, len(names) != 0 && names[0] == c.first, "%q finds %q, not %q first", c.q, names, c.first)
	}
	if names, a := found(t, s, "no-such-thing"); len(names) != 0 || a.Items == nil || a.More != 0 {
		t.Errorf("nothing was expected: %q, %d more", names, a.More)
	}
	names, a := found(t, s, "a")
	expect.That(t, len(names) <= 30 && a.More != 0, "%d are listed, %d more", len(names), a.More)
}

func TestOnlyWhatSomebodyMayUseIsFound(t *testing.T) {
	for _, c := range []struct {
		role  auth.Role
		finds []string
	}{
		{auth.Viewer, nil}, {auth.Support, []string{"page Locate"}},
		{auth.Operator, []string{"page Locate", "page Audit", "change Pin a project to a shard…"}},
		{auth.Admin, []string{"page Locate", "page Audit", "change Pin a project to a shard…", "page Users"}},
	} {
		s := webtest.New(t, func(d *site.Deps) {
			d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "user:x", Name: "x", Role: c.role}}
		})
		var got []string
		for _, q := range []string{"locate", "audit", "pin a project", "users"} {
			names, _ := found(t, s, q)
			for _, want := range []string{"page Locate", "page Audit", "change Pin a project to a shard…", "page Users"} {
				if slices.Contains(names, want) {
					got = append(got, want)
				}
			}
		}
		expect.That(t, slices.Equal(got, c.finds), "%s finds %q, not %q", c.role, got, c.finds)
	}
}

func TestFindCanBeLimitedToProjects(t *testing.T) {
	s := webtest.New(t)
	a := webtest.Decode[api.Found](t, s.Do("GET", "/api/v1/find?kind=project&q=a"))
	must.That(t, len(a.Items) != 0, "no project is found")
	for _, x := range a.Items {
		expect.That(t, x.Kind == "project", "a %s is found too: %s", x.Kind, x.Name)
	}
	expect.Equal(t, s.Do("GET", "/api/v1/find?kind=user&q=a").Code, 400, "an unknown kind")
}

func TestAPlanThatWasNeverRunIsFoundByItsTitleAndID(t *testing.T) {
	s := webtest.New(t)
	stub := s.Deps.Changes.Actions.(*webtest.StubActions)
	var plan actions.Plan
	for _, p := range stub.PlanList {
		if !slices.ContainsFunc(stub.RunList, func(r engine.Run) bool { return r.Plan == p.ID }) {
			plan = p
		}
	}
	must.That(t, plan.ID != "", "every plan was run")
	for now, detail := range map[time.Time]string{plan.Made: "not run", plan.Expires: "expired, not run"} {
		s.Deps.Now = func() time.Time { return now }
		_, a := found(t, s, plan.ID)
		if len(a.Items) != 1 || a.Items[0].Kind != "plan" || string(a.Items[0].URL) != "/plans/"+plan.ID || a.Items[0].Detail != detail {
			t.Errorf("by its id: %+v, want a plan that is %s", a.Items, detail)
			continue
		}
		if _, byTitle := found(t, s, a.Items[0].Name); !slices.Contains(byTitle.Items, a.Items[0]) {
			t.Errorf("by its title %q: %+v", a.Items[0].Name, byTitle.Items)
		}
	}
}
