package app

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/api"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// startShop is a demo over the shop, without a profile, whose data survives a restart.
func startShop(t *testing.T, configure func(*Config)) *demo {
	t.Helper()
	d := startDemoOver(t, simcluster.Options{Empty: true, Still: true}, topology.Options{}, nil, func(c *mongo.Client) {
		madeup.Shop.Fill(func(db string, cmd bson.D) { must.Do(t, c.Database(db).RunCommand(t.Context(), cmd).Err()) })
	})
	d.stop(t)
	d.config.DataDir = t.TempDir()
	configure(&d.config)
	d.serve(t)
	d.waitReady(t)
	return d
}

// post sends a form or, to the API, JSON, and returns the status.
func (d *demo) post(t *testing.T, path, kind, body string) int {
	t.Helper()
	c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	res, err := c.Post(d.app.URL()+path, kind, strings.NewReader(body))
	must.Do(t, err)
	must.Do(t, res.Body.Close())
	return res.StatusCode
}

const formType = "application/x-www-form-urlencoded"

// proposed waits for the proposal and returns its hash.
func (d *demo) proposed(t *testing.T, below string) string {
	t.Helper()
	d.waitForPage(t, below, "No profile fits this data: here is one")
	var p api.Profile
	d.getJSON(t, below+"api/v1/profile", &p)
	must.That(t, p.Proposed != nil && !p.Kept && p.Name == "yorkie" && strings.Contains(p.Proposed.YAML, "tenantId"), "%+v", p)
	return p.Proposed.Hash
}

// One click, and the next page speaks the words of the proposal; after a restart too, until it is dropped.
func TestProposedProfileIsKeptByOneClick(t *testing.T) {
	only.Long(t, "starts whole demos")
	d := startShop(t, func(*Config) {})
	hash := d.proposed(t, "")
	got := d.post(t, "profile/keep", formType, url.Values{"hash": {"another"}}.Encode())
	expect.Equal(t, got, http.StatusConflict, "another proposal than was shown")
	got = d.post(t, "profile/keep", formType, url.Values{"hash": {hash}}.Encode())
	must.That(t, got == http.StatusSeeOther, "keep: %d", got)
	_, body := d.get(t, "projects")
	expect.That(t, strings.Contains(textOfPage(string(body)), "Shop 3") && strings.Contains(string(body), "Tenants by shard"),
		"the next page is not in the words of the profile:\n%s", textOfPage(string(body)))
	kept := func(when string, want bool) {
		t.Helper()
		var p api.Profile
		d.getJSON(t, "api/v1/profile", &p)
		expect.Equal(t, p.Kept, want, "%s: %+v", when, p)
	}
	kept("kept", true)
	d.stop(t)
	d.serve(t)
	d.waitReady(t)
	d.waitForPage(t, "projects", "Shop 3", "Tenants by shard")
	kept("after a restart", true)
	d.waitForPage(t, "layout", "an admin has kept it")
	expect.Equal(t, d.post(t, "api/v1/profile/drop", "application/json", "{}"), http.StatusOK, "drop")
	kept("dropped", false)
	hash = d.proposed(t, "")
	expect.Equal(t, d.post(t, "api/v1/profile/keep", "application/json", `{"hash":"`+hash+`"}`), http.StatusOK, "keep by the API")
	kept("kept by the API", true)
	var trail api.List[api.AuditRecord]
	d.getJSON(t, "api/v1/audit", &trail)
	var what []string
	for _, r := range trail.Items {
		if strings.HasPrefix(r.What, "profile.") {
			what = append(what, r.What+" "+r.Subject+" "+r.Outcome)
		}
	}
	want := []string{"profile.kept shop ok", "profile.dropped  ok", "profile.kept shop ok"}
	expect.That(t, slices.Equal(what, want), "the record has %q, want %q", what, want)
}

// A profile that is given is not replaced, and the page says where it is given.
func TestGivenProfileIsNotReplaced(t *testing.T) {
	only.Long(t, "starts whole demos")
	d := startShop(t, func(c *Config) { c.Profile = profile.Yorkie() })
	hash := d.proposed(t, "")
	d.waitForPage(t, "", "It cannot be kept here by a click. A profile is given by --profile")
	expect.Equal(t, d.post(t, "profile/keep", formType, url.Values{"hash": {hash}}.Encode()), http.StatusConflict, "keep")
}

// On a server of several clusters each has its own.
func TestOneOfSeveralClustersKeepsAProfile(t *testing.T) {
	only.Long(t, "starts whole demos")
	d := startShop(t, func(c *Config) {
		c.Clusters = []ClusterConfig{{Name: "shop", Title: "Shop", URI: c.URI, Log: c.Log},
			{Name: "yorkie", Title: "Yorkie", URI: simulated(t, 99), Log: c.Log}}
		c.File = "shardboard.yaml"
	})
	hash := d.proposed(t, "c/shop/")
	got := d.post(t, "c/shop/profile/keep", formType, url.Values{"hash": {hash}}.Encode())
	must.That(t, got == http.StatusSeeOther, "keep: %d", got)
	if _, body := d.get(t, "c/shop/projects"); !strings.Contains(string(body), "Tenants by shard") {
		t.Errorf("the next page is not in the words of the profile:\n%s", textOfPage(string(body)))
	}
	d.waitForPage(t, "c/yorkie/projects", "Projects by shard")
	d.stop(t)
	d.serve(t)
	d.waitForPage(t, "c/shop/projects", "Shop 3", "Tenants by shard")
}
