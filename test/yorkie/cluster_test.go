package yorkie_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const database = "yorkie-meta"

// shards are those of the simulated cluster.
var shards = []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}

// layout is the sharding that Yorkie's own chart sets up for this release.
var layout = []struct {
	collection string
	key        bson.D
}{
	{"clients", bson.D{{Key: "project_id", Value: 1}, {Key: "_id", Value: "hashed"}}},
	{"documents", bson.D{{Key: "project_id", Value: 1}}},
	{"schemas", bson.D{{Key: "project_id", Value: 1}}},
	{"changes", bson.D{{Key: "doc_id", Value: "hashed"}}},
	{"snapshots", bson.D{{Key: "doc_id", Value: "hashed"}}},
	{"versionvectors", bson.D{{Key: "doc_id", Value: "hashed"}}},
	{"revisions", bson.D{{Key: "doc_id", Value: "hashed"}}},
}

// sharded is the cluster as an operator and an application see it.
type sharded struct {
	*testing.T
	client *mongo.Client
	db     *mongo.Database
}

func connect(t *testing.T, uri string) *sharded {
	t.Helper()
	c, err := mongo.Connect(options.Client().ApplyURI(uri))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Disconnect(context.Background()) })
	return &sharded{t, c, c.Database(database)}
}

func (s *sharded) admin(ctx context.Context, cmd bson.D) error {
	return s.client.Database("admin").RunCommand(ctx, cmd).Err()
}

func (s *sharded) must(cmd bson.D) {
	s.Helper()
	if err := s.admin(s.Context(), cmd); err != nil {
		s.Fatalf("%v: %v", cmd, err)
	}
}

// shard sets the layout up. The balancer stays off, so that only the test moves.
func (s *sharded) shard() {
	s.Helper()
	s.must(bson.D{{Key: "balancerStop", Value: 1}})
	s.must(bson.D{{Key: "enableSharding", Value: database}})
	for _, l := range layout {
		s.must(bson.D{{Key: "shardCollection", Value: database + "." + l.collection}, {Key: "key", Value: l.key}})
	}
}

// splitAt cuts documents and clients where each project begins.
func (s *sharded) splitAt(project bson.ObjectID) {
	s.Helper()
	s.must(bson.D{{Key: "split", Value: database + ".documents"}, {Key: "middle", Value: bson.D{{Key: "project_id", Value: project}}}})
	s.must(bson.D{{Key: "split", Value: database + ".clients"},
		{Key: "middle", Value: bson.D{{Key: "project_id", Value: project}, {Key: "_id", Value: int64(0)}}}})
}

// shake moves chunks under the writers until the context ends and tells how
// many. What has begun by then is finished.
func (s *sharded) shake(ctx context.Context, r *rand.Rand) (moved int, err error) {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return moved, nil
		case <-tick.C:
		}
		if err := s.moveOne(context.WithoutCancel(ctx), r); err != nil {
			return moved, err
		}
		moved++
	}
}

// moveOne moves a random chunk to a random other shard.
func (s *sharded) moveOne(ctx context.Context, r *rand.Rand) error {
	config := s.client.Database("config")
	ns := database + "." + layout[r.IntN(len(layout))].collection
	var coll struct{ UUID bson.Binary }
	if err := config.Collection("collections").FindOne(ctx, bson.D{{Key: "_id", Value: ns}}).Decode(&coll); err != nil {
		return err
	}
	cur, err := config.Collection("chunks").Find(ctx, bson.D{{Key: "uuid", Value: coll.UUID}})
	if err != nil {
		return err
	}
	var chunks []struct {
		Min, Max bson.Raw
		Shard    string
	}
	if err := cur.All(ctx, &chunks); err != nil {
		return err
	}
	c := chunks[r.IntN(len(chunks))]
	others := slices.DeleteFunc(slices.Clone(shards), func(name string) bool { return name == c.Shard })
	// The donor's copy is to be gone at once: the chunk may come back soon, and
	// figures count documents that are left over.
	return s.admin(ctx, bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bson.A{c.Min, c.Max}},
		{Key: "to", Value: others[r.IntN(len(others))]}, {Key: "_waitForDelete", Value: true}})
}

// target is the one shard that explain says a find goes to.
func (s *sharded) target(collection string, filter bson.D) string {
	s.Helper()
	var reply struct {
		QueryPlanner struct {
			WinningPlan struct {
				Shards []struct {
					ShardName string `bson:"shardName"`
				}
			} `bson:"winningPlan"`
		} `bson:"queryPlanner"`
	}
	cmd := bson.D{{Key: "explain", Value: bson.D{{Key: "find", Value: collection}, {Key: "filter", Value: filter}}},
		{Key: "verbosity", Value: "queryPlanner"}}
	if err := s.db.RunCommand(s.Context(), cmd).Decode(&reply); err != nil {
		s.Fatal(err)
	}
	if on := reply.QueryPlanner.WinningPlan.Shards; len(on) == 1 {
		return on[0].ShardName
	}
	s.Fatalf("%s %v goes to %v", collection, filter, reply)
	return ""
}

// lies holds the documents that each shard has of a collection against where
// explain sends a find for each value of the field.
func (s *sharded) lies(collection, field string) (documents int) {
	s.Helper()
	var groups []struct {
		ID any `bson:"_id"`
		N  int
	}
	s.aggregate(collection, &groups,
		bson.D{{Key: "$group", Value: bson.D{{Key: "_id", Value: "$" + field}, {Key: "n", Value: bson.D{{Key: "$sum", Value: 1}}}}}})
	want := map[string]int{}
	for _, g := range groups {
		want[s.target(collection, bson.D{{Key: field, Value: g.ID}})] += g.N
		documents += g.N
	}
	var stats []struct {
		Shard        string
		StorageStats struct{ Count int } `bson:"storageStats"`
	}
	s.aggregate(collection, &stats, bson.D{{Key: "$collStats", Value: bson.D{{Key: "storageStats", Value: bson.D{}}}}})
	got := map[string]int{}
	for _, on := range stats {
		if on.StorageStats.Count != 0 {
			got[on.Shard] = on.StorageStats.Count
		}
	}
	for _, shard := range shards {
		if got[shard] != want[shard] {
			s.Errorf("%s: %d documents are on %s, explain sends finds for %d there", collection, got[shard], shard, want[shard])
		}
	}
	return documents
}

func (s *sharded) aggregate(collection string, into any, stages ...bson.D) {
	s.Helper()
	cur, err := s.db.Collection(collection).Aggregate(s.Context(), stages)
	if err != nil {
		s.Fatal(err)
	}
	if err := cur.All(s.Context(), into); err != nil {
		s.Fatal(err)
	}
}
