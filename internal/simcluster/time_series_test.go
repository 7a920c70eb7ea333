package simcluster

import (
	"fmt"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
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
	expect.Equal(t, mustRun(t, c, "db", d("count", "ts")).Lookup("n").Int32(), 8, "measurements")
}
