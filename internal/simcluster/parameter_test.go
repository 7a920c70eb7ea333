package simcluster

import (
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// orphanCleanupDelaySecs is a parameter of mongod, not of mongos.
func TestARouterHasNoOrphanCleanupDelay(t *testing.T) {
	c := emptyCluster(t)
	_, err := c.Command(t.Context(), "admin", d("getParameter", 1, "orphanCleanupDelaySecs", 1))
	if e := status.Of(err); e == nil || !e.NoCode || e.Message != "no option found to get" {
		t.Errorf("got %v", err)
	}
	if all := mustRun(t, c, "admin", d("getParameter", "*")); all.Lookup("orphanCleanupDelaySecs").Type != bson.Type(0) {
		t.Errorf("among all: %s", all)
	}
}
