package cluster_test

import (
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/simcluster"
	"shardboard/internal/simcluster/access"
)

// clusterManager may move chunks but may not read current operations.
func TestUserWithoutOperationsPrivilegeIsToldSoAndCanStillTrace(t *testing.T) {
	users := []access.User{{Name: "root", Password: "pw"}}
	withAccessControl(t, "5.0", users, func(t *testing.T, sim *simcluster.Cluster, connect connector) {
		_, err := connect("root", "pw")
		must(t, err)
		must(t, run(t, sim, "admin", bson.D{{Key: "createUser", Value: "mover"}, {Key: "pwd", Value: "pw"},
			{Key: "roles", Value: bson.A{"clusterManager"}}}))
		c, err := connect("mover", "pw")
		must(t, err)
		a, err := c.Activity(t.Context(), nil)
		must(t, err)
		if a.Known || a.Reason != "notPermitted" {
			t.Errorf("%+v", a)
		}
		lo, err := bson.Marshal(bson.D{{Key: "project_id", Value: bson.MinKey{}}})
		must(t, err)
		if _, err := c.Trace(t.Context(), "r", actions.Step{Op: actions.OpMove, NS: "yorkie-meta.documents", Min: lo}, time.Now()); err != nil {
			t.Error(err)
		}
	})
}
