package simcluster

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

func TestAMovedCollectionIsReadAndWrittenWhereItIs(t *testing.T) {
	onVersion(t, "8.0", func(t *testing.T, do func(string, ...bson.E) (bson.Raw, error)) {
		smallData(t, do)
		moved := make(chan error, 1)
		go func() {
			_, err := do("admin", field("moveCollection", "d.u"), field("toShard", "shard-rs-2"))
			moved <- err
		}()
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		if _, err := do("d", field("insert", "u"), field("documents", bson.A{bson.D{field("_id", "new")}})); err != nil {
			t.Fatal(err)
		}
		if _, err := do("d", field("update", "u"),
			field("updates", bson.A{bson.D{field("q", bson.D{field("_id", 3)}),
				field("u", bson.D{field("$set", bson.D{field("x", 1)})})}})); err != nil {
			t.Fatal(err)
		}
		if n, err := do("d", field("count", "u")); err != nil ||
			fmt.Sprint(n.Lookup("shards")) != `{"shard-rs-2": {"$numberInt":"31"}}` && n.Lookup("n").Int32() != 31 {
			t.Errorf("got %s, %v, want 31 documents on shard-rs-2", n, err)
		}
		plan, err := do("d", field("explain", bson.D{field("find", "u"), field("filter", bson.D{field("x", 1)})}))
		if err != nil || plan.Lookup("queryPlanner", "winningPlan", "shards", "0", "shardName").StringValue() != "shard-rs-2" {
			t.Errorf("got %s, %v, want a plan on shard-rs-2", plan, err)
		}
		list, err := do("d", field("listCollections", 1), field("nameOnly", true))
		if names, _ := list.Lookup("cursor", "firstBatch").Array().Values(); err != nil || len(names) != 2 {
			t.Errorf("got %s, %v, want two collections", list, err)
		}
		check, err := do("d", field("checkMetadataConsistency", 1), field("checkIndexes", true))
		if found, _ := check.Lookup("cursor", "firstBatch").Array().Values(); err != nil || len(found) != 0 {
			t.Errorf("got %s, %v, want no inconsistency", check, err)
		}
	})
}

func TestReshardingShowsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{ServerVersion: "7.0", Empty: true})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		do := func(db string, cmd ...bson.E) (bson.Raw, error) { return c.Command(t.Context(), db, bson.D(cmd)) }
		smallData(t, do)
		docs := bson.A{}
		for i := 100; i < 1100; i++ {
			docs = append(docs, bson.D{field("_id", int32(i)), field("p", int32(i))})
		}
		if _, err := do("d", field("insert", "t"), field("documents", docs)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := do("admin", field("reshardCollection", "d.t"), field("key", bson.D{field("_id", "hashed")}))
			done <- err
		}()
		last := int64(-1)
		for range 4 {
			time.Sleep(30 * time.Second)
			r, err := do("admin", field("aggregate", 1), field("cursor", bson.D{}), field("pipeline", bson.A{
				bson.D{field("$currentOp", bson.D{field("allUsers", true), field("localOps", false)})},
				bson.D{field("$match", bson.D{field("originatingCommand.reshardCollection", "d.t"),
					field("recipientState", bson.D{field("$exists", true)})})},
				bson.D{field("$group", bson.D{field("_id", nil), field("copied", bson.D{field("$sum", "$documentsCopied")})})},
			}))
			if err != nil {
				t.Fatal(err)
			}
			n, _ := wholeNumber(r.Lookup("cursor", "firstBatch", "0", "copied"))
			if n <= last || n > 1030 {
				t.Errorf("copied %d after %d: %s", n, last, r)
			}
			last = n
		}
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if n, err := do("d", field("count", "t")); err != nil || n.Lookup("n").Int32() != 1030 {
			t.Errorf("got %s, %v, want 1030 documents", n, err)
		}
	})
}

func TestTheConfigShardHoldsDataLikeAnyOther(t *testing.T) {
	for _, uuids := range []bool{false, true} {
		c := emptyCluster(t, func(o *Options) { o.ServerVersion, o.ConfigShard, o.ShardUUIDs, o.Shards = "8.0", true, uuids, 2 })
		do := func(db string, cmd ...bson.E) bson.Raw {
			t.Helper()
			reply, err := c.Command(t.Context(), db, bson.D(cmd))
			if err != nil {
				t.Fatalf("%v: %v", cmd, err)
			}
			return reply
		}
		do("admin", field("enableSharding", "d"), field("primaryShard", "config"))
		do("admin", field("shardCollection", "d.h"), field("key", bson.D{field("k", "hashed")}))
		docs := bson.A{}
		for i := range 300 {
			docs = append(docs, bson.D{field("_id", int32(i)), field("k", int32(i))})
		}
		do("d", field("insert", "h"), field("documents", docs))
		do("d", field("insert", "u"), field("documents", docs))
		if n := do("d", field("count", "h")).Lookup("n").Int32(); n != 300 {
			t.Errorf("%d documents, want 300", n)
		}
		stats := do("d", field("collStats", "h"))
		for _, shard := range []string{"config", "shard-rs-1", "shard-rs-2"} {
			if n, _ := wholeNumber(stats.Lookup("shards", shard, "count")); n < 50 {
				t.Errorf("%s has %d documents, want at least 50", shard, n)
			}
		}
		plan := do("d", field("explain", bson.D{field("find", "u"), field("filter", bson.D{field("k", 1)})}))
		if shard := plan.Lookup("queryPlanner", "winningPlan", "shards", "0", "shardName").StringValue(); shard != "config" {
			t.Errorf(`the primary is %s, want "config"`, shard)
		}
		if list, _ := do("admin", field("listShards", 1)).Lookup("shards").Array().Values(); len(list) != 3 {
			t.Errorf("%d shards, want 3", len(list))
		}
		if n, _ := wholeNumber(do("config", field("count", "shards")).Lookup("n")); n != 3 {
			t.Errorf("%d rows in config.shards, want 3", n)
		}
		dbs, _ := do("admin", field("listDatabases", 1), field("nameOnly", true)).Lookup("databases").Array().Values()
		if len(dbs) < 2 {
			t.Errorf("databases %v, want len at least 2", dbs)
		}
		seen := map[string]bool{}
		for _, d := range dbs {
			name := d.Document().Lookup("name").StringValue()
			if seen[name] {
				t.Errorf("%s is listed twice", name)
			}
			seen[name] = true
		}
		if n, _ := wholeNumber(do("d", field("dbStats", 1)).Lookup("objects")); n != 600 {
			t.Errorf("dbStats counts %d documents, want 600", n)
		}
		do("d", field("dropDatabase", 1))
		if n, _ := wholeNumber(do("config", field("count", "shards")).Lookup("n")); n != 3 {
			t.Errorf("%d rows in config.shards after a drop, want 3", n)
		}
	}
}
