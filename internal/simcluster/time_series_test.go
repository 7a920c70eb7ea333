package simcluster

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

// Measurements go into the buckets of their meta value and time, on the shards of a sharded series too, and come back
// through the view.
func TestMeasurementsAreKeptInBuckets(t *testing.T) {
	c := emptyCluster(t, func(o *Options) { o.ServerVersion = "8.0" })
	mustRun(t, c, "db", d("create", "ts", "timeseries", d("timeField", "at", "metaField", "sensor")))
	mustRun(t, c, "admin", d("shardCollection", "db.ts", "key", d("sensor", 1)))
	mustRun(t, c, "admin", d("split", "db.system.buckets.ts", "middle", d("meta", "m")))
	mustRun(t, c, "admin", d("moveChunk", "db.system.buckets.ts", "find", d("meta", "z"), "to", "shard-rs-2"))
	at := time.Unix(1_700_000_000, 0)
	var docs bson.A
	for i := range 4 {
		for _, sensor := range []string{"a", "z"} {
			docs = append(docs, d("at", at.Add(time.Duration(i)*30*time.Minute), "sensor", sensor, "v", i))
		}
	}
	mustRun(t, c, "db", d("insert", "ts", "documents", docs))
	if _, err := c.Command(t.Context(), "db", d("insert", "ts", "documents", bson.A{d("v", 1)})); err == nil {
		t.Error("a measurement without its time was stored")
	}
	buckets := mustRun(t, c, "db", d("count", "system.buckets.ts")).Lookup("n").Int32()
	if buckets != 4 { // an hour of each sensor, twice
		t.Errorf("%d buckets, want 4", buckets)
	}
	rows, _ := mustRun(t, c, "db", d("find", "ts", "filter", d("sensor", "z"), "sort", d("at", 1))).
		Lookup("cursor", "firstBatch").Array().Values()
	got := ""
	for _, r := range rows {
		got += fmt.Sprint(r.Document().Lookup("at").Time().Sub(at).Minutes(), " ", r.Document().Lookup("v").Int32(), "; ")
	}
	if want := "0 0; 30 1; 60 2; 90 3; "; got != want {
		t.Errorf("measurements %q, want %q", got, want)
	}
	if n := mustRun(t, c, "db", d("count", "ts")).Lookup("n").Int32(); n != 8 {
		t.Errorf("%d measurements, want 8", n)
	}
}

func TestClusterCatalogSaysWhereAndHowACollectionIs(t *testing.T) {
	c := emptyCluster(t, func(o *Options) { o.ServerVersion = "8.0" })
	shardIntoThree(t, c)
	mustRun(t, c, "db", d("insert", "plain", "documents", bson.A{d("_id", 1)}))
	mustRun(t, c, "admin", d("configureCollectionBalancing", "db.coll", "chunkSize", 5, "enableAutoMerger", false))
	rows, _ := mustRun(t, c, "db", d("aggregate", 1, "pipeline",
		bson.A{d("$listClusterCatalog", d("shards", true, "balancingConfiguration", true))}, "cursor", bson.D{})).
		Lookup("cursor", "firstBatch").Array().Values()
	got := ""
	for _, r := range rows {
		row := r.Document()
		got += fmt.Sprintf("%s %s %s %s %s; ", row.Lookup("ns").StringValue(), row.Lookup("sharded"), row.Lookup("shards"),
			row.Lookup("autoMergingEnabled"), row.Lookup("chunkSize"))
	}
	const want = `db.coll true ["shard-rs-1","shard-rs-2","shard-rs-3"] false {"$numberDouble":"5.0"}; db.plain false ["shard-rs-1"]  ; `
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// In 8.0 config.settings has a schema; a refused document changes nothing.
func TestSettingsThatTheSchemaRefusesAreNotWritten(t *testing.T) {
	c := emptyCluster(t, func(o *Options) { o.ServerVersion = "8.0" })
	for _, u := range []bson.D{d("q", d("_id", "chunksize"), "u", d("$set", d("value", 2000)), "upsert", true),
		d("q", d("_id", "other"), "u", d("$set", d("value", 1)), "upsert", true),
		d("q", d("_id", "balancer"), "u", d("$set", d("mode", "autoSplitOnly")), "upsert", true)} {
		_, err := c.Command(t.Context(), "config", d("update", "settings", "updates", bson.A{u}))
		if err == nil || status.Of(err).Code != status.DocumentValidationFailure {
			t.Errorf("%v: %v", u, err)
		}
	}
	mustRun(t, c, "config", d("update", "settings", "updates",
		bson.A{d("q", d("_id", "chunksize"), "u", d("$set", d("value", 64)), "upsert", true)}))
	if n := mustRun(t, c, "config", d("count", "settings", "query", d("value", 64))).Lookup("n").Int32(); n != 1 {
		t.Error("a setting within the bounds was not written")
	}
}

// 8.0 updates and deletes one document without its shard key, wherever it is.
func TestOneDocumentIsWrittenWithoutItsShardKey(t *testing.T) {
	c := emptyCluster(t, func(o *Options) { o.ServerVersion = "8.0" })
	shardIntoThree(t, c)
	mustRun(t, c, "db", d("insert", "coll", "documents", bson.A{d("_id", 1, "k", -50, "x", 1), d("_id", 2, "k", 5000, "x", 1)}))
	up := mustRun(t, c, "db", d("update", "coll", "updates", bson.A{d("q", d("x", 1), "u", d("$set", d("y", 1)))}))
	del := mustRun(t, c, "db", d("delete", "coll", "deletes", bson.A{d("q", d("x", 1), "limit", 1)}))
	if up.Lookup("n").Int32() != 1 || del.Lookup("n").Int32() != 1 || mustRun(t, c, "db", d("count", "coll")).Lookup("n").Int32() != 1 {
		t.Errorf("update %s, delete %s", up, del)
	}
}
