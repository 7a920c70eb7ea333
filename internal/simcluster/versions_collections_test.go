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
			_, err := do("admin", e("moveCollection", "d.u"), e("toShard", "shard-rs-2"))
			moved <- err
		}()
		if err := <-moved; err != nil {
			t.Fatal(err)
		}
		if _, err := do("d", e("insert", "u"), e("documents", bson.A{bson.D{e("_id", "new")}})); err != nil {
			t.Fatal(err)
		}
		if _, err := do("d", e("update", "u"),
			e("updates", bson.A{bson.D{e("q", bson.D{e("_id", 3)}), e("u", bson.D{e("$set", bson.D{e("x", 1)})})}})); err != nil {
			t.Fatal(err)
		}
		if n, err := do("d", e("count", "u")); err != nil ||
			fmt.Sprint(n.Lookup("shards")) != `{"shard-rs-2": {"$numberInt":"31"}}` && n.Lookup("n").Int32() != 31 {
			t.Errorf("%s, %v", n, err)
		}
		plan, err := do("d", e("explain", bson.D{e("find", "u"), e("filter", bson.D{e("x", 1)})}))
		if err != nil || plan.Lookup("queryPlanner", "winningPlan", "shards", "0", "shardName").StringValue() != "shard-rs-2" {
			t.Errorf("%s, %v", plan, err)
		}
		list, err := do("d", e("listCollections", 1), e("nameOnly", true))
		if names, _ := list.Lookup("cursor", "firstBatch").Array().Values(); err != nil || len(names) != 2 {
			t.Errorf("%s, %v", list, err)
		}
		check, err := do("d", e("checkMetadataConsistency", 1), e("checkIndexes", true))
		if found, _ := check.Lookup("cursor", "firstBatch").Array().Values(); err != nil || len(found) != 0 {
			t.Errorf("%s, %v", check, err)
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
			docs = append(docs, bson.D{e("_id", int32(i)), e("p", int32(i))})
		}
		if _, err := do("d", e("insert", "t"), e("documents", docs)); err != nil {
			t.Fatal(err)
		}
		done := make(chan error, 1)
		go func() {
			_, err := do("admin", e("reshardCollection", "d.t"), e("key", bson.D{e("_id", "hashed")}))
			done <- err
		}()
		last := int64(-1)
		for range 4 {
			time.Sleep(30 * time.Second)
			r, err := do("admin", e("aggregate", 1), e("cursor", bson.D{}), e("pipeline", bson.A{
				bson.D{e("$currentOp", bson.D{e("allUsers", true), e("localOps", false)})},
				bson.D{e("$match", bson.D{e("originatingCommand.reshardCollection", "d.t"), e("recipientState", bson.D{e("$exists", true)})})},
				bson.D{e("$group", bson.D{e("_id", nil), e("copied", bson.D{e("$sum", "$documentsCopied")})})},
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
		if n, err := do("d", e("count", "t")); err != nil || n.Lookup("n").Int32() != 1030 {
			t.Errorf("%s, %v", n, err)
		}
	})
}

func TestTheConfigShardHoldsDataLikeAnyOther(t *testing.T) {
	for _, uuids := range []bool{false, true} {
		c := empty(t, func(o *Options) { o.ServerVersion, o.ConfigShard, o.ShardUUIDs, o.Shards = "8.0", true, uuids, 2 })
		do := func(db string, cmd ...bson.E) bson.Raw {
			t.Helper()
			reply, err := c.Command(t.Context(), db, bson.D(cmd))
			if err != nil {
				t.Fatalf("%v: %v", cmd, err)
			}
			return reply
		}
		do("admin", e("enableSharding", "d"), e("primaryShard", "config"))
		do("admin", e("shardCollection", "d.h"), e("key", bson.D{e("k", "hashed")}))
		docs := bson.A{}
		for i := range 300 {
			docs = append(docs, bson.D{e("_id", int32(i)), e("k", int32(i))})
		}
		do("d", e("insert", "h"), e("documents", docs))
		do("d", e("insert", "u"), e("documents", docs))
		if n := do("d", e("count", "h")).Lookup("n").Int32(); n != 300 {
			t.Errorf("%d documents", n)
		}
		stats := do("d", e("collStats", "h"))
		for _, shard := range []string{"config", "shard-rs-1", "shard-rs-2"} {
			if n, _ := wholeNumber(stats.Lookup("shards", shard, "count")); n < 50 {
				t.Errorf("%s has %d documents", shard, n)
			}
		}
		plan := do("d", e("explain", bson.D{e("find", "u"), e("filter", bson.D{e("k", 1)})}))
		if shard := plan.Lookup("queryPlanner", "winningPlan", "shards", "0", "shardName").StringValue(); shard != "config" {
			t.Errorf("the primary is %s", shard)
		}
		if list, _ := do("admin", e("listShards", 1)).Lookup("shards").Array().Values(); len(list) != 3 {
			t.Errorf("%d shards", len(list))
		}
		if n, _ := wholeNumber(do("config", e("count", "shards")).Lookup("n")); n != 3 {
			t.Errorf("%d rows in config.shards", n)
		}
		dbs, _ := do("admin", e("listDatabases", 1), e("nameOnly", true)).Lookup("databases").Array().Values()
		if len(dbs) < 2 {
			t.Errorf("databases %v", dbs)
		}
		seen := map[string]bool{}
		for _, d := range dbs {
			name := d.Document().Lookup("name").StringValue()
			if seen[name] {
				t.Errorf("%s is listed twice", name)
			}
			seen[name] = true
		}
		if n, _ := wholeNumber(do("d", e("dbStats", 1)).Lookup("objects")); n != 600 {
			t.Errorf("dbStats counts %d documents", n)
		}
		do("d", e("dropDatabase", 1))
		if n, _ := wholeNumber(do("config", e("count", "shards")).Lookup("n")); n != 3 {
			t.Errorf("%d rows in config.shards after a drop", n)
		}
	}
}
