package simcluster

import (
	"context"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// Arguments of wrong types give a server error, never a panic.
func TestMalformedCommandsReturnErrors(t *testing.T) {
	c := withSpreadDocuments(t)
	garbage := []any{
		nil, true, int32(-1), int64(1 << 62), 1e300, "", "coll", "db.coll", "$x", "a\x00b", bson.A{}, bson.A{1, "x", nil}, bson.D{},
		d("$like", 1), d("$set", d("a.b.c", 1)), d("k", d("$gt", bson.A{})), bson.A{d("$group", 1)}, bson.A{d("$match", bson.D{})},
		bson.A{d("q", bson.D{}, "u", d("$inc", d("k", "x")), "limit", 7)}, bson.MinKey{}, bson.Regex{Pattern: "("}, bson.ObjectID{1},
	}
	fields := []string{
		"filter", "query", "sort", "projection", "fields", "limit", "skip", "batchSize", "hint", "let", "collation", "pipeline", "cursor",
		"documents", "updates", "deletes", "indexes", "index", "update", "key", "min", "max", "bounds", "find", "middle", "to", "zone",
		"keyPattern", "scale", "verbosity", "lsid", "txnNumber", "readConcern", "cursors", "collection", "arrayFilters", "upsert",
	}
	for _, name := range slices.Sorted(maps.Keys(c.commands)) {
		if name == "reshardCollection" || name == "balancerStop" || strings.HasPrefix(strings.ToLower(name), "dropd") {
			continue // they block, or remove what the others need
		}
		for i, first := range garbage {
			for j, field := range fields {
				if testing.Short() && (i+j)%4 != 0 {
					continue
				}
				cmd := bson.D{{Key: name, Value: first}, {Key: field, Value: garbage[(i+j*7)%len(garbage)]}, {Key: "maxTimeMS", Value: 50}}
				ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
				db := "db"
				if c.commands[name].adminOnly || j%2 == 0 {
					db = "admin"
				}
				_, err := c.Command(ctx, db, cmd)
				cancel()
				must.That(t, err == nil || !strings.HasPrefix(err.Error(), name+" failed: "), "%v: %v", cmd, err)
			}
		}
	}
}

// withSpreadDocuments makes a cluster with 100 documents on each of three shards.
func withSpreadDocuments(t *testing.T) *Cluster {
	t.Helper()
	c := emptyCluster(t)
	shardIntoThree(t, c)
	var docs []bson.Raw
	for i := range 300 {
		docs = append(docs, encode(d("_id", int32(i), "k", int32(i))))
	}
	must.Do(t, c.BulkInsert("db.coll", docs))
	return c
}
