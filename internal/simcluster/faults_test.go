package simcluster

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

// faultFixture is a cluster with a small sharded collection, app.c, and a driver
// connected to it: the chunk from 100 on and the one before it, both on the first
// shard, and a zone.
type faultFixture struct {
	t       *testing.T
	cluster *Cluster
	client  *mongo.Client
}

func inBubble(t *testing.T, run func(*faultFixture), change ...func(*Options)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := emptyCluster(t, append([]func(*Options){func(o *Options) { o.Still = false }}, change...)...)
		client, err := mongo.Connect(options.Client().ApplyURI(URI()).SetDialer(c).SetServerMonitoringMode("poll").SetRetryReads(false))
		must.Do(t, err)
		s := &faultFixture{t, c, client}
		mustRun(t, c, "admin", d("enableSharding", "app", "primaryShard", "shard-rs-1"))
		mustRun(t, c, "admin", d("shardCollection", "app.c", "key", d("p", int32(1))))
		mustRun(t, c, "admin", d("split", "app.c", "middle", d("p", int32(100))))
		docs := bson.A{}
		for i := range int32(200) {
			docs = append(docs, d("_id", i, "p", i))
		}
		mustRun(t, c, "app", d("insert", "c", "documents", docs))
		mustRun(t, c, "admin", d("addShardToZone", "shard-rs-1", "zone", "old"))
		run(s)
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		expect.NoError(t, client.Disconnect(ctx), "Disconnect")
		expect.NoError(t, c.Close(), "Close")
	})
}

func (s *faultFixture) run(db string, cmd bson.D) error {
	return s.client.Database(db).RunCommand(s.t.Context(), cmd).Err()
}

// state describes everything that the commands under test change.
func (s *faultFixture) state() string {
	s.t.Helper()
	var out []string
	for _, coll := range []string{"chunks", "tags", "shards", "settings", "collections", "databases"} {
		reply := mustRun(s.t, s.cluster, "config", d("find", coll))
		rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
		for _, r := range rows {
			row := r.Document()
			out = append(out, fmt.Sprint(coll, row.Lookup("min"), row.Lookup("max"), row.Lookup("shard"), row.Lookup("jumbo"),
				row.Lookup("tags"), row.Lookup("tag"), row.Lookup("draining"),
				row.Lookup("stopped"), row.Lookup("mode"), row.Lookup("value"), row.Lookup("permitMigrations"),
				row.Lookup("allowMigrations"), row.Lookup("maxChunkSizeBytes"), row.Lookup("primary")))
		}
	}
	return strings.Join(out, "\n")
}

// commandChangingState prepares and returns a command of this name that changes the state.
func (s *faultFixture) commandChangingState(name string) (db string, cmd bson.D) {
	key := func(v any) bson.D { return d("p", v) }
	switch name {
	case "split":
		return "admin", d("split", "app.c", "middle", key(int32(150)))
	case "mergeChunks":
		return "admin", d("mergeChunks", "app.c", "bounds", bson.A{key(bson.MinKey{}), key(bson.MaxKey{})})
	case "moveChunk":
		return "admin", d("moveChunk", "app.c", "bounds", bson.A{key(int32(100)), key(bson.MaxKey{})}, "to", "shard-rs-2", "_waitForDelete", true)
	case "moveRange":
		return "admin", d("moveRange", "app.c", "min", key(int32(100)), "max", key(bson.MaxKey{}), "toShard", "shard-rs-2", "waitForDelete", true)
	case "movePrimary":
		return "admin", d("movePrimary", "app", "to", "shard-rs-2")
	case "moveCollection":
		mustRun(s.t, s.cluster, "app", d("insert", "u", "documents", bson.A{d("_id", int32(1))}))
		// The first move tracks the collection, which changes config.collections.
		mustRun(s.t, s.cluster, "admin", d("moveCollection", "app.u", "toShard", "shard-rs-3"))
		return "admin", d("moveCollection", "app.u", "toShard", "shard-rs-2")
	case "unshardCollection":
		return "admin", d("unshardCollection", "app.c", "toShard", "shard-rs-2")
	case "balancerStart":
		mustRun(s.t, s.cluster, "admin", d("balancerStop", 1))
		return "admin", d("balancerStart", 1)
	case "balancerStop":
		mustRun(s.t, s.cluster, "admin", d("balancerStart", 1))
		return "admin", d("balancerStop", 1)
	case "addShardToZone":
		return "admin", d("addShardToZone", "shard-rs-2", "zone", "new")
	case "removeShardFromZone":
		return "admin", d("removeShardFromZone", "shard-rs-1", "zone", "old")
	case "updateZoneKeyRange":
		return "admin", d("updateZoneKeyRange", "app.c", "min", key(int32(0)), "max", key(int32(50)), "zone", "old")
	case "clearJumboFlag":
		mustRun(s.t, s.cluster, "config",
			d("update", "chunks", "updates", bson.A{d("q", d("min", key(int32(100))), "u", d("$set", d("jumbo", true)))}))
		return "admin", d("clearJumboFlag", "app.c", "bounds", bson.A{key(int32(100)), key(bson.MaxKey{})})
	case "refineCollectionShardKey":
		longer := d("p", int32(1), "q", int32(1))
		mustRun(s.t, s.cluster, "app", d("createIndexes", "c", "indexes", bson.A{d("key", longer, "name", "longer")}))
		return "admin", d("refineCollectionShardKey", "app.c", "key", longer)
	case "configureCollectionBalancing":
		return "admin", d("configureCollectionBalancing", "app.c", "chunkSize", int32(7))
	case "setAllowMigrations":
		return "admin", d("setAllowMigrations", "app.c", "allowMigrations", false)
	case "removeShard", "startShardDraining":
		return "admin", d(name, "shard-rs-2")
	case "stopShardDraining", "commitShardRemoval":
		mustRun(s.t, s.cluster, "admin", d("startShardDraining", "shard-rs-2"))
		return "admin", d(name, "shard-rs-2")
	case "update":
		return "config", d("update", "settings", "updates",
			bson.A{d("q", d("_id", "chunksize"), "u", d("$set", d("value", int32(3))), "upsert", true)})
	}
	s.t.Fatalf("no command for %s", name)
	return "", nil
}

func (s *faultFixture) changelog(what string) []bson.RawValue {
	s.t.Helper()
	reply := mustRun(s.t, s.cluster, "config", d("find", "changelog", "filter", d("what", what)))
	rows, _ := reply.Lookup("cursor", "firstBatch").Array().Values()
	return rows
}
