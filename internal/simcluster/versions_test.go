package simcluster

import (
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
)

var allVersions = []string{"4.4", "5.0", "6.0", "7.0", "8.0"}

// onVersion runs a test against an empty cluster of a version, in a synctest bubble.
func onVersion(t *testing.T, version string, test func(t *testing.T, do func(db string, cmd ...bson.E) (bson.Raw, error))) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c, err := New(t.Context(), Options{ServerVersion: version, Empty: true, Still: true, Shards: 3})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close() }()
		test(t, func(db string, cmd ...bson.E) (bson.Raw, error) { return c.Command(t.Context(), db, bson.D(cmd)) })
	})
}

func field(key string, value any) bson.E { return bson.E{Key: key, Value: value} }

func TestCommandsThatAVersionLacksAreNotFound(t *testing.T) {
	first := map[string]string{
		"setAllowMigrations": "5.0", "reshardCollection": "5.0", "commitReshardCollection": "5.0",
		"moveRange": "6.0", "configureCollectionBalancing": "6.0",
		"mergeAllChunksOnShard": "7.0", "analyzeShardKey": "7.0", "checkMetadataConsistency": "7.0",
		"moveCollection": "8.0", "unshardCollection": "8.0", "abortMoveCollection": "8.0",
	}
	for _, v := range allVersions {
		onVersion(t, v, func(t *testing.T, do func(string, ...bson.E) (bson.Raw, error)) {
			for name, since := range first {
				_, err := do("admin", field(name, "d.none"))
				if unknown := err != nil && status.Of(err).Code == status.CommandNotFound; unknown != (v < since) {
					t.Errorf("%s on %s: %v", name, v, err)
				}
			}
		})
	}
}

func TestEveryVersionReportsItself(t *testing.T) {
	wire := map[string]int32{"4.4": 9, "5.0": 13, "6.0": 17, "7.0": 21, "8.0": 25}
	for _, v := range allVersions {
		onVersion(t, v, func(t *testing.T, do func(string, ...bson.E) (bson.Raw, error)) {
			hello, err := do("admin", field("hello", 1))
			if err != nil || hello.Lookup("maxWireVersion").Int32() != wire[v] || hello.Lookup("msg").StringValue() != "isdbgrid" {
				t.Errorf("%s: %s, %v", v, hello, err)
			}
			build, err := do("admin", field("buildInfo", 1))
			if err != nil || build.Lookup("version").StringValue()[:3] != v {
				t.Errorf("%s: %s, %v", v, build, err)
			}
		})
	}
}

func TestDataDistributionAndOrphansAreReportedSince60(t *testing.T) {
	for _, v := range append(allVersions, "6.0.2") {
		onVersion(t, v, func(t *testing.T, do func(string, ...bson.E) (bson.Raw, error)) {
			smallData(t, do)
			_, err := do("admin", field("aggregate", 1), field("pipeline",
				bson.A{bson.D{field("$shardedDataDistribution", bson.D{})}}), field("cursor", bson.D{}))
			if has := err == nil; has != (v >= "6.0" && v != "6.0.2") {
				t.Errorf("%s: %v", v, err)
			}
			if err != nil && status.Of(err).Code != 40324 {
				t.Errorf("%s: %v", v, err)
			}
			stats, err := do("d", field("collStats", "t"))
			if err != nil || (stats.Lookup("shards", "shard-rs-1", "numOrphanDocs").Type != 0) != (v >= "6.0") {
				t.Errorf("%s: %s, %v", v, stats, err)
			}
		})
	}
}

// smallData makes d.t on {p: 1} with 30 documents on shard-rs-1.
func smallData(t *testing.T, do func(string, ...bson.E) (bson.Raw, error)) {
	t.Helper()
	docs := bson.A{}
	for i := range 30 {
		docs = append(docs, bson.D{field("_id", int32(i)), field("p", int32(i))})
	}
	for _, c := range []struct {
		db  string
		cmd bson.D
	}{
		{"admin", bson.D{field("enableSharding", "d"), field("primaryShard", "shard-rs-1")}},
		{"admin", bson.D{field("shardCollection", "d.t"), field("key", bson.D{field("p", int32(1))})}},
		{"d", bson.D{field("insert", "t"), field("documents", docs)}},
		{"d", bson.D{field("insert", "u"), field("documents", docs)}},
	} {
		if _, err := do(c.db, c.cmd...); err != nil {
			t.Fatalf("%v: %v", c.cmd, err)
		}
	}
}

// Commands that work the same in all versions: clearJumboFlag,
// refineCollectionShardKey, removeShard, movePrimary, and a move that fails on a
// duplicate _id.
func TestAdministrationCommandsWorkInAllVersions(t *testing.T) {
	for _, v := range allVersions {
		onVersion(t, v, func(t *testing.T, do func(string, ...bson.E) (bson.Raw, error)) {
			smallData(t, do)
			admin := func(code int32, cmd ...bson.E) bson.Raw {
				t.Helper()
				reply, err := do("admin", cmd...)
				if got := status.Of(err); code == 0 && err != nil || code != 0 && (err == nil || got.Code != code) {
					t.Errorf("%s: %v: %v", v, cmd, err)
				}
				return reply
			}
			p := func(n int) bson.D { return bson.D{field("p", int32(n))} }
			admin(0, field("split", "d.t"), field("middle", p(10)))
			admin(0, field("split", "d.t"), field("middle", p(20)))
			admin(0, field("moveChunk", "d.t"), field("find", p(10)), field("to", "shard-rs-2"), field("forceJumbo", true),
				field("_waitForDelete", true))
			if _, err := do("d", field("insert", "t"), field("documents",
				bson.A{bson.D{field("_id", int32(25)), field("p", int32(15))}})); err != nil {
				t.Fatal(err)
			}
			admin(status.OperationFailed, field("moveChunk", "d.t"), field("find", p(20)), field("to", "shard-rs-2"))
			admin(0, field("clearJumboFlag", "d.t"), field("find", p(10)))
			admin(51261, field("clearJumboFlag", "d.t"), field("bounds", bson.A{p(1), p(2)}))
			admin(0, field("mergeChunks", "d.t"), field("bounds", bson.A{p(10), p(20)}))
			if _, err := do("d", field("createIndexes", "t"),
				field("indexes", bson.A{bson.D{field("key", bson.D{field("p", 1), field("q", 1)}), field("name", "p_q")}})); err != nil {
				t.Fatal(err)
			}
			admin(0, field("refineCollectionShardKey", "d.t"), field("key", bson.D{field("p", int32(1)), field("q", int32(1))}))
			admin(0, field("flushRouterConfig", "d.t"))
			if r := admin(0, field("getShardVersion", "d.t")); r.Lookup("version").Type != bson.TypeTimestamp {
				t.Errorf("%s: %s", v, r)
			}
			admin(0, field("movePrimary", "d"), field("to", "shard-rs-3"))
			if n, err := do("d", field("count", "u")); err != nil || n.Lookup("n").Int32() != 30 {
				t.Errorf("%s: %s, %v", v, n, err)
			}
			if r := admin(0, field("removeShard", "shard-rs-2")); r.Lookup("state").StringValue() != "started" {
				t.Errorf("%s: %s", v, r)
			}
			if r := admin(0, field("removeShard", "shard-rs-2")); r.Lookup("remaining", "chunks").Int64() != 1 {
				t.Errorf("%s: %s", v, r)
			}
			admin(status.IllegalOperation, field("moveChunk", "d.t"),
				field("find", bson.D{field("p", int32(1)), field("q", int32(1))}), field("to", "shard-rs-2"))
		})
	}
}
