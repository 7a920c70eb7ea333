// Package agree_test compares two independent implementations: the product's routing
// table, keys and hash, and those of the simulated cluster. For random values of every
// BSON type the product's table must name the shard to which the simulated mongos sends
// the query.
package agree_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// keysPerVersion is how many random keys are located in each version; all versions together
// are a million in long runs.
func keysPerVersion() int {
	switch {
	case os.Getenv("SHARDBOARD_LONG") == "hours":
		return 200_000
	case testing.Short():
		return 1_000
	}
	return 20_000
}

var asc, hashed = int32(1), "hashed"

// patterns are the kinds of shard keys, by the collection that has them.
var patterns = []struct {
	coll string
	key  bson.D
}{
	{"ranged", bson.D{{Key: "p", Value: asc}}},
	{"hashed", bson.D{{Key: "k", Value: hashed}}},
	{"nested", bson.D{{Key: "a.b", Value: hashed}}},
	{"mixed", bson.D{{Key: "p", Value: asc}, {Key: "k", Value: hashed}}},
	{"led", bson.D{{Key: "k", Value: hashed}, {Key: "p", Value: asc}}},
	{"pair", bson.D{{Key: "p", Value: asc}, {Key: "k", Value: asc}}},
}

func TestRoutingTableNamesTheShardTheRouterTargets(t *testing.T) {
	for _, version := range []string{"4.4", "5.0", "6.0", "7.0", "8.0"} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			n := keysPerVersion()
			w := newWorld(t, version)
			table := w.loadTable()
			for i := range n {
				p := patterns[i%len(patterns)]
				w.compareTargets(table.Collection(topology.Namespace("d."+p.coll)), p.coll, p.key)
			}
			t.Logf("%d keys agree", n)
		})
	}
}

// world is a simulated cluster of many chunks, randomly distributed over the shards.
type world struct {
	t   *testing.T
	sim *simcluster.Cluster
	rng *rand.Rand
}

func newWorld(t *testing.T, version string) *world {
	t.Helper()
	sim := must.Get(simcluster.New(t.Context(), simcluster.Options{ServerVersion: version, Empty: true, Still: true}))
	t.Cleanup(func() { _ = sim.Close() })
	w := &world{t: t, sim: sim, rng: rand.New(rand.NewPCG(uint64(len(version)), 77))}
	w.command(bson.D{{Key: "enableSharding", Value: "d"}})
	for _, p := range patterns {
		w.command(bson.D{{Key: "shardCollection", Value: "d." + p.coll}, {Key: "key", Value: p.key}})
		for range 60 {
			w.splitAndMove(p.coll, p.key)
		}
	}
	return w
}

func (w *world) command(cmd bson.D) {
	w.t.Helper()
	if _, err := w.sim.Command(w.t.Context(), "admin", cmd); err != nil {
		w.t.Fatalf("%v: %v", cmd, err)
	}
}

// splitAndMove splits at a random key and moves the chunk above it.
func (w *world) splitAndMove(coll string, key bson.D) {
	at := bson.D{}
	for _, f := range key {
		var v any = w.value(1)
		if f.Value == hashed {
			v = int64(w.rng.Uint64())
		}
		at = append(at, bson.E{Key: f.Key, Value: v})
	}
	ns := "d." + coll
	// Errors for equal points and invalid chunk bounds are ignored.
	if _, err := w.sim.Command(w.t.Context(), "admin", bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: at}}); err != nil {
		return
	}
	find := bson.D{}
	for _, f := range key {
		find = append(find, bson.E{Key: f.Key, Value: bson.D{{Key: "$eq", Value: w.value(1)}}})
	}
	_, _ = w.sim.Command(w.t.Context(), "admin", bson.D{
		{Key: "moveChunk", Value: ns}, {Key: "find", Value: find}, {Key: "to", Value: fmt.Sprintf("shard-rs-%d", 1+w.rng.IntN(3))},
	})
}

// loadTable reads the table as the product does.
func (w *world) loadTable() *topology.Table {
	w.t.Helper()
	uri := must.Get(cluster.ParseURI(simcluster.URI()))
	ctx, cancel := context.WithTimeout(w.t.Context(), 30*time.Second)
	defer cancel()
	client := must.Get(cluster.Connect(ctx, uri, cluster.Options{Dialer: w.sim}))
	defer func() { _ = client.Close(context.Background()) }()
	table, err := topology.NewWatcher(client, topology.Options{}).Load(ctx)
	must.Do(w.t, err)
	chunks := 0
	for _, c := range table.Collections {
		chunks += c.Chunks.Len()
	}
	must.That(w.t, chunks >= 40*len(patterns), "only %d chunks", chunks)
	return table
}

// compareTargets locates one random key with both implementations.
func (w *world) compareTargets(c *topology.Collection, coll string, key bson.D) {
	w.t.Helper()
	values := make([]bson.RawValue, len(key))
	filter := bson.D{}
	for i, f := range key {
		values[i] = w.value(2)
		filter = append(filter, bson.E{Key: f.Key, Value: bson.D{{Key: "$eq", Value: values[i]}}})
	}
	k, err := c.Key.KeyOf(values...)
	must.That(w.t, err == nil, "%s: key of %v: %v", coll, values, err)
	_, chunk := c.Chunks.Find(k)
	reply, err := w.sim.Command(w.t.Context(), "d", bson.D{
		{Key: "explain", Value: bson.D{{Key: "find", Value: coll}, {Key: "filter", Value: filter}}}, {Key: "verbosity", Value: "queryPlanner"},
	})
	must.That(w.t, err == nil, "%s: explain %v: %v", coll, filter, err)
	shards, _ := reply.Lookup("queryPlanner", "winningPlan", "shards").Array().Values()
	if len(shards) != 1 || shards[0].Document().Lookup("shardName").StringValue() != chunk.Shard {
		w.t.Fatalf("%s %v (%s): the table says %s, the router asks %d shards: %v", coll, values, display(c.Key, k),
			chunk.Shard, len(shards), shards)
	}
}

func display(p shardkey.Pattern, k shardkey.Key) string {
	d, err := p.Document(k)
	if err != nil {
		return err.Error()
	}
	return d.String()
}
