package demodata_test

import (
	"context"
	"net"
	"strings"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"shardboard/internal/demodata"
	"shardboard/internal/fault"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
)

// emptyCluster starts a cluster without data and returns its address and a client.
func emptyCluster(t *testing.T) (string, *mongo.Client) {
	t.Helper()
	sim, err := simcluster.New(t.Context(), simcluster.Options{Empty: true, Still: true, Shards: 2, ServerVersion: "7.0"})
	must.Do(t, err)
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))
	ended := make(chan error, 1)
	go func() { ended <- sim.Serve(l) }()
	t.Cleanup(func() {
		_ = sim.Close()
		<-ended
	})
	uri := "mongodb://" + l.Addr().String() + "/?directConnection=true"
	client := must.Get(mongo.Connect(options.Client().ApplyURI(uri)))
	t.Cleanup(func() { _ = client.Disconnect(context.Background()) })
	return uri, client
}

func count(t *testing.T, client *mongo.Client, db, coll string, filter bson.D) int64 {
	t.Helper()
	n, err := client.Database(db).Collection(coll).CountDocuments(t.Context(), filter)
	must.Do(t, err)
	return n
}

func TestDemoDataIsLoadedIntoCollectionsThatAreSharded(t *testing.T) {
	uri, client := emptyCluster(t)
	admin := client.Database("admin")
	for _, cmd := range []bson.D{
		{{Key: "enableSharding", Value: "yorkie-meta"}, {Key: "primaryShard", Value: "shard-rs-2"}},
		{{Key: "shardCollection", Value: "yorkie-meta.documents"}, {Key: "key", Value: bson.D{{Key: "project_id", Value: 1}}}},
	} {
		must.Do(t, admin.RunCommand(t.Context(), cmd).Err())
	}
	sizes := count(t, client, "config", "settings", bson.D{{Key: "_id", Value: "chunksize"}})
	o := demodata.Options{URI: uri, Database: "yorkie-meta", Seed: 7, Projects: 8, Documents: 300}
	must.Do(t, demodata.Load(t.Context(), o))
	expect.Equal(t, count(t, client, "yorkie-meta", "documents", bson.D{}), 300, "documents")
	expect.Equal(t, count(t, client, "yorkie-meta", "projects", bson.D{}), 8, "projects")
	for _, shard := range []string{"shard-rs-1", "shard-rs-2"} {
		if count(t, client, "config", "chunks", bson.D{{Key: "shard", Value: shard}}) == 0 {
			t.Errorf("%s has no chunks", shard)
		}
	}
	if now := count(t, client, "config", "settings", bson.D{{Key: "_id", Value: "chunksize"}}); now != sizes {
		t.Error("the chunk size of the cluster was set")
	}

	// A second time there is something to lose.
	err := demodata.Load(t.Context(), o)
	expect.That(t, fault.Of(err) == fault.Conflict && strings.Contains(err.Error(), "not empty"), "loaded again: %v", err)
	expect.Equal(t, count(t, client, "yorkie-meta", "documents", bson.D{}), 300, "documents after the refusal")
}

func TestDemoDataSparesADatabaseWithAnyDocument(t *testing.T) {
	uri, client := emptyCluster(t)
	if _, err := client.Database("shop").Collection("orders").InsertOne(t.Context(), bson.D{{Key: "_id", Value: 1}}); err != nil {
		t.Fatal(err)
	}
	err := demodata.Load(t.Context(), demodata.Options{URI: uri, Database: "shop", Seed: 7, Projects: 2, Documents: 10})
	expect.Equal(t, fault.Of(err), fault.Conflict, "%v", err)
	names, err := client.Database("shop").ListCollectionNames(t.Context(), bson.D{})
	expect.That(t, err == nil && len(names) == 1, "collections %v, %v", names, err)
}
