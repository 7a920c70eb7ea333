package audit_test

import (
	"strings"
	"testing"

	"shardboard/internal/api"
	"shardboard/internal/auth"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/store"
	"shardboard/internal/store/audit"
	"shardboard/internal/topology"
	"shardboard/web/site"
	"shardboard/web/webtest"
)

const run, plan = "aaaaaaaaaaaaaaaaaaaaaaaaaa", "bbbbbbbbbbbbbbbbbbbbbbbbbb"

// clustersWith are the clusters own, other and one that was not reached yet, with what somebody may do on other.
func clustersWith(other auth.Role) webtest.StubClusters {
	view := func(id string) *site.Cluster {
		v := webtest.NewStory().With(func(t *topology.Table) { t.ClusterID = id }).View()
		return webtest.ClusterWith(id, strings.ToUpper(id), v, auth.Operator)
	}
	c := webtest.StubClusters{List: []*site.Cluster{view("own"), view("other")}}
	c.List[1].Role = func(who auth.Principal) (auth.Role, bool) { return other, other != "" }
	return c
}

func trailOfClusters() *webtest.StubAudit {
	a := &webtest.StubAudit{}
	for _, e := range []store.AuditEntry{
		{What: "login.ok", Subject: "user:1"},
		{What: "run.ended", Subject: run, Cluster: "own", Details: map[string]string{"plan": plan}},
		{What: "plan.made", Subject: plan, Cluster: "other", Details: map[string]string{"undoOf": run, "reason": "told nobody"}},
		{What: "survey.started", Subject: "S", Cluster: "own", Details: map[string]string{"ns": "a.b c"}},
		{What: "plan.made", Subject: plan, Cluster: "removed"},
		{What: "token.created", Subject: "token:bound", Details: map[string]string{"clusters": "other=operator", "name": "told nobody"}},
		{What: "configuration.reloaded", Details: map[string]string{"added": "other"}},
	} {
		e.At, e.By, e.Outcome = webtest.Epoch, "user:k3j2", "ok"
		a.Add(e)
	}
	return a
}

func TestEntriesLeadToPagesOfTheirCluster(t *testing.T) {
	several := webtest.New(t, webtest.OfServer(clustersWith(auth.Operator)), func(d *site.Deps) { d.Audit.Trail = trailOfClusters() })
	one := webtest.New(t, func(d *site.Deps) { d.Audit.Trail = trailOfClusters() })
	one.Watcher.Publish(webtest.NewStory().With(func(t *topology.Table) { t.ClusterID = "own" }).View().Table)
	for name, c := range map[string]struct {
		s    *webtest.Server
		want string
	}{
		"several": {several, "/c/own/surveys/S /c/own/ /c/own/collections/a.b%20c " +
			"/c/other/plans/" + plan + " /c/other/ /c/other/runs/" + run + " /c/own/runs/" + run + " /c/own/ /c/own/plans/" + plan},
		"one": {one, "/surveys/S /collections/a.b%20c /runs/" + run + " /plans/" + plan},
	} {
		var got []string
		rows := c.s.Page(t, "/audit").Find("tbody tr")
		for i := range rows.Length() {
			for _, where := range []string{"td[data-label=About] a", "th a"} {
				links := rows.Eq(i).Find(where)
				for j := range links.Length() {
					to, _ := links.Eq(j).Attr("href")
					got = append(got, to)
				}
			}
		}
		list := strings.Join(got, " ")
		expect.That(t, list == c.want, "%s:\n%s, want\n%s", name, list, c.want)
	}
}

func TestEntriesOfAClusterAreForItsOperatorsAndForAdminsOfTheServer(t *testing.T) {
	for _, c := range []struct {
		role, there auth.Role
		told        int
	}{
		{auth.Operator, auth.Operator, 7},
		{auth.Operator, auth.Viewer, 4}, // own and the server's, but not what may be of a cluster that is not known
		{auth.Operator, "", 3},
		{auth.Admin, auth.Viewer, 7},
		{auth.Admin, "", 7},
	} {
		s := webtest.New(t, webtest.OfServer(clustersWith(c.there)), func(d *site.Deps) {
			d.Audit.Trail = trailOfClusters()
			d.Access.Auth = webtest.OnePerson{Who: auth.Principal{ID: "user:1", Name: "a", Role: c.role, Method: auth.ByPassword}}
		})
		told := 0
		items := webtest.Decode[api.List[api.AuditRecord]](t, s.Do("GET", "/api/v1/audit")).Items
		for _, r := range items {
			if r.What != audit.Withheld {
				told++
			} else if r.Hash == "" || r.Subject+r.By+r.Cluster+r.Outcome != "" || len(r.Details) > 0 {
				t.Errorf("%+v", r)
			}
		}
		expect.That(t, told == c.told && len(items) == 7,
			"%s, on the cluster %q: %d of %d are told, want %d", c.role, c.there, told, len(items), c.told)
		page, csv := s.Do("GET", "/audit").Body.String(), s.Do("GET", "/audit.csv").Body.String()
		expect.That(t, strings.Contains(page, "told nobody") == (c.told > 3) && strings.Contains(csv, "told nobody") == (c.told > 3) &&
			strings.Contains(page, "told nobody either") == (c.told > 3),
			"%s, on the cluster %q: the page or the file tells something else than the JSON", c.role, c.there)
		expect.Equal(t, strings.Contains(page, "/c/other/"), c.there != "" && c.told == 7, "%s, on the cluster %q: links", c.role, c.there)
		found := webtest.Decode[api.List[api.AuditRecord]](t, s.Do("GET", "/api/v1/audit?subject="+plan)).Items
		want := map[bool]int{true: 2}[c.told == 7]
		expect.Equal(t, len(found), want, "%s, on the cluster %q: found by what they are about", c.role, c.there)
	}
}
