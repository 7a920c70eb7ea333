package yorkie_test

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"
)

const database = "yorkie-meta"

// shards lists the shards of the simulated cluster.
var shards = []string{"shard-rs-1", "shard-rs-2", "shard-rs-3"}

// layout is the sharding that Yorkie's Helm chart sets up for this release.
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

// sharded has the connections of an operator and of an application.
type sharded struct {
	*testing.T
	client *mongo.Client
	db     *mongo.Database
}

func connect(t *testing.T, uri string) *sharded {
	t.Helper()
	c, err := mongo.Connect(options.Client().ApplyURI(uri))
	must(t, err)
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

// setUpSharding sets up the layout. The balancer stays off, so that only the test moves chunks.
func (s *sharded) setUpSharding() {
	s.Helper()
	s.must(bson.D{{Key: "balancerStop", Value: 1}})
	s.must(bson.D{{Key: "enableSharding", Value: database}})
	for _, l := range layout {
		s.must(bson.D{{Key: "shardCollection", Value: database + "." + l.collection}, {Key: "key", Value: l.key}})
	}
}

// splitAt splits documents and clients at the beginning of a project.
func (s *sharded) splitAt(project bson.ObjectID) {
	s.Helper()
	s.must(bson.D{{Key: "split", Value: database + ".documents"}, {Key: "middle", Value: bson.D{{Key: "project_id", Value: project}}}})
	s.must(bson.D{{Key: "split", Value: database + ".clients"},
		{Key: "middle", Value: bson.D{{Key: "project_id", Value: project}, {Key: "_id", Value: int64(0)}}}})
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
	// Delete the donor's copy at once: the chunk may return soon, and counts include
	// orphans.
	return s.admin(ctx, bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bson.A{c.Min, c.Max}},
		{Key: "to", Value: others[r.IntN(len(others))]}, {Key: "_waitForDelete", Value: true}})
}

// target is the only shard in the explain of a find.
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

// checkPlacement compares the documents on each shard with the targets of explain for each value
// of the field.
func (s *sharded) checkPlacement(collection, field string) (documents int) {
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

// must ends the test at an error of its set-up.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
