package app

import (
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/madeup"
	"shardboard/internal/fixture/must"
	"shardboard/internal/fixture/only"
	"shardboard/internal/profile"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// The first page proposes a profile, and with its file the tenants are shown: by ids of other types than ObjectID, and
// without a collection that lists them.
func TestProposedProfileShowsTheTenantsOfOtherData(t *testing.T) {
	only.Long(t, "starts whole demos")
	for _, tc := range []struct {
		schema           madeup.Schema
		proposal, tenant string
		names            []string
		locate, ns       string
		filter           bson.D // of the located rows, for explain
	}{
		{madeup.Shop, "tenants lists the tenants", "Shop 3", []string{"Shop 0", "Shop 7"}, "Shop 3/N004", "shop.orders",
			madeup.Row("tenantId", "t-3")},
		{madeup.Fleet, "No collection lists the tenants", "us-east", []string{"ap-south", "eu-west", "us-east"}, "us-east/7", "fleet.devices",
			madeup.Row("region", "us-east", "deviceId", 7)},
		{madeup.Analytics, "users lists the tenants", "user4", []string{"user0", "user6"}, "user4", "analytics.events",
			madeup.Row("userId", bson.Binary{Subtype: 4, Data: []byte{15: 4}})},
		{madeup.CRM, "tenants lists the tenants", "Tenant 3", []string{"Tenant 0", "Tenant 6"}, "Tenant 3/D04", "crm.deals",
			madeup.Row("tenant.id", "t-3", "deal.number", "D04")},
		{madeup.Telemetry, "No collection lists the tenants", "us-east", []string{"ap-south", "eu-west", "us-east"}, "us-east/4",
			"telemetry.devices", madeup.Row("meta.region", "us-east", "meta.deviceId", 4)},
	} {
		t.Run(tc.schema.DB, func(t *testing.T) {
			fill := func(c *mongo.Client) {
				tc.schema.Fill(func(db string, cmd bson.D) {
					t.Helper()
					must.Do(t, c.Database(db).RunCommand(t.Context(), cmd).Err())
				})
			}
			d := startDemoOver(t, simcluster.Options{Empty: true, Still: true}, topology.Options{}, nil, fill)
			if len(tc.filter) == 2 { // the whole shard key: the tenant is divided right at the row
				d.divideAt(t, tc.ns, tc.filter)
			}
			d.waitForPage(t, "", "No profile fits this data: here is one", tc.proposal, tc.tenant)
			_, file := d.get(t, "profile.yaml")
			path := t.TempDir() + "/proposed.yaml"
			must.Do(t, os.WriteFile(path, file, 0o600))
			p, err := profile.Read(path)
			must.That(t, err == nil, "%v\n%s", err, file)
			d.stop(t)
			d.config.Profile = p
			d.serve(t)
			d.waitReady(t)
			d.waitForPage(t, "projects", tc.names...)
			var list struct {
				Items []struct{ ID, Name string }
			}
			d.getJSON(t, "api/v1/projects", &list)
			i := slices.IndexFunc(list.Items, func(x struct{ ID, Name string }) bool { return x.Name == tc.tenant })
			must.That(t, i >= 0, "%s is not listed: %+v", tc.tenant, list.Items)
			d.waitForPage(t, "projects/"+list.Items[i].ID, tc.tenant)
			if words := p.TenantWords().Many; words == "Projects" {
				t.Errorf("the proposal has no word for tenants:\n%s", file)
			} else {
				d.waitForPage(t, "matrix?by=projects", words+" by shard, bytes")
			}
			var found struct {
				Items []struct {
					Kind   string
					Places []struct {
						NS     string
						Shards []string
						Exact  bool
					}
				}
			}
			d.getJSON(t, "api/v1/locate?q="+url.QueryEscape(tc.locate), &found)
			ok := false
			for _, it := range found.Items {
				for _, place := range it.Places {
					if place.NS == tc.ns {
						ok = true
						want := d.explain(t, tc.ns, tc.filter)
						expect.That(t, place.Exact && slices.Equal(place.Shards, want), "located on %v, explain says %v", place.Shards, want)
					}
				}
			}
			expect.That(t, ok, "%s is not located in %s: %+v", tc.locate, tc.ns, found)
			_, body := d.get(t, "")
			expect.That(t, !strings.Contains(string(body), "No profile fits"), "the first page proposes a profile although one fits")
		})
	}
}

// divideAt begins a chunk at a key and moves it to another shard.
func (d *demo) divideAt(t *testing.T, ns string, key bson.D) {
	t.Helper()
	to := "shard-rs-1"
	if slices.Contains(d.explain(t, ns, key), to) {
		to = "shard-rs-2"
	}
	for _, cmd := range []bson.D{
		{{Key: "split", Value: ns}, {Key: "middle", Value: key}},
		{{Key: "moveChunk", Value: ns}, {Key: "find", Value: key}, {Key: "to", Value: to}},
	} {
		must.Do(t, d.driver.Database("admin").RunCommand(t.Context(), cmd).Err())
	}
}

func TestFirstPageSaysThatNothingCanBeProposed(t *testing.T) {
	only.Long(t, "starts a whole demo")
	d := startDemoOver(t, simcluster.Options{Empty: true, Still: true}, topology.Options{}, nil, func(c *mongo.Client) {
		madeup.Files.Fill(func(db string, cmd bson.D) {
			must.Do(t, c.Database(db).RunCommand(t.Context(), cmd).Err())
		})
	})
	d.waitForPage(t, "", "none can be proposed", "at is not taken for the tenant: its values are of type date.", "work as they are")
	res, _ := d.get(t, "profile.yaml")
	expect.Equal(t, res.StatusCode, http.StatusNotFound, "the file of nothing answers %s", res.Status)
}

// waitForPage waits until a page says all that it should.
func (d *demo) waitForPage(t *testing.T, path string, says ...string) {
	t.Helper()
	text := ""
	must.That(t, eventually(settledWithin, func() bool {
		_, body := d.get(t, path)
		text = strings.NewReplacer("&#34;", `"`, "&#39;", "'").Replace(textOfPage(string(body)))
		return !slices.ContainsFunc(says, func(s string) bool { return !strings.Contains(text, s) })
	}), "/%s does not say all of %q:\n%s", path, says, text)
}
