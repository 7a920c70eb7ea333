package conformance_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/doctor"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/profile"
	"shardboard/internal/topology"
)

func TestDoctorFindsNothingMissingForAnUnrestrictedUser(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		for _, name := range []topology.Namespace{ns, topology.Namespace(w.db + ".none"), "config.chunks", "config.none"} {
			if err := w.client.MayFind(t.Context(), name); err != nil && fault.Of(err) != fault.NotFound {
				t.Errorf("%s: %v", name, err)
			}
		}
		clock, err := w.client.Clock(t.Context())
		must.Do(t, err)
		if ahead, plusMinus := clock.Ahead(); ahead.Abs() > time.Hour || plusMinus <= 0 {
			t.Errorf("the clock is %v ahead, ± %v", ahead, plusMinus)
		}
		report, err := doctor.Examine(t.Context(), w.client, doctor.Subject{Table: &topology.Table{}, Server: w.server,
			Profile: profile.Yorkie(), Data: []doctor.Data{{DB: w.db, Layout: profile.Yorkie().Layouts[0]}}})
		must.Do(t, err)
		for _, f := range report.Findings {
			expect.That(t, f.State == doctor.OK, "%s: %s, lacks %v, not known %v", f.Code, f.State, f.Lacks, f.Unsure)
		}
	})
}

func TestIdentityListsThePrivilegesOfTheUser(t *testing.T) {
	withRoles(t, []string{"clusterMonitor"}, func(t *testing.T, _ *world, c *cluster.Client) {
		id, err := c.Identity(t.Context())
		must.Do(t, err)
		if len(id.Users) != 1 || id.Users[0] != "limited@admin" {
			t.Errorf(`users %v, want len 1, [0] "limited@admin"`, id.Users)
		}
		kinds := map[string]bool{}
		for _, g := range id.Grants {
			kinds["cluster"] = kinds["cluster"] || g.On.Cluster
			kinds["config"] = kinds["config"] || g.On.DB == "config"
			kinds["everywhere"] = kinds["everywhere"] || g.On == topology.Resource{}
			expect.That(t, len(g.Actions) != 0, "%+v permits nothing", g)
		}
		if len(kinds) != 3 || !kinds["cluster"] || !kinds["config"] || !kinds["everywhere"] {
			t.Errorf("got privileges %+v, want some on the cluster, on config and on every namespace", id.Grants)
		}
	})
}
