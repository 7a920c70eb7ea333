package balance_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/balance"
	"shardboard/internal/cluster"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// world is a simulated cluster with one collection, db.t on {p: 1}, and a watcher.
type world struct {
	t       *testing.T
	sim     *simcluster.Cluster
	watcher *topology.Watcher
}

func onSimulatedCluster(t *testing.T, shards int, scenario func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		sim, err := simcluster.New(t.Context(),
			simcluster.Options{ServerVersion: "5.0", Shards: shards, Empty: true, Still: true, Epoch: time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)})
		must.Do(t, err)
		defer func() { _ = sim.Close() }()
		sim.Start(t.Context())
		uri := must.Get(cluster.ParseURI(simcluster.URI()))
		c := must.Get(cluster.Connect(t.Context(), uri, cluster.Options{Dialer: sim}))
		defer func() { _ = c.Close(context.Background()) }()
		w := &world{t: t, sim: sim, watcher: topology.NewWatcher(c, topology.Options{})}
		w.admin(bson.D{{Key: "enableSharding", Value: "db"}, {Key: "primaryShard", Value: "shard-rs-1"}})
		w.admin(bson.D{{Key: "shardCollection", Value: "db.t"}, {Key: "key", Value: bson.D{{Key: "p", Value: 1}}}})
		scenario(w)
	})
}

func (w *world) admin(cmd bson.D) bson.Raw {
	w.t.Helper()
	reply, err := w.sim.Command(w.t.Context(), "admin", cmd)
	must.That(w.t, err == nil, "%v: %v", cmd, err)
	return reply
}

func keyDocument(p int) bson.D { return bson.D{{Key: "p", Value: int32(p)}} }

func (w *world) roundCount() (count int64, running bool) {
	reply := w.admin(bson.D{{Key: "balancerStatus", Value: 1}})
	count, _ = reply.Lookup("numBalancerRounds").AsInt64OK()
	running, _ = reply.Lookup("inBalancerRound").BooleanOK()
	return count, running
}

func (w *world) loadTable() *topology.Table {
	w.t.Helper()
	t, err := w.watcher.Load(w.t.Context())
	must.Do(w.t, err)
	return t
}

// randomizeLayout splits the collection at random, distributes the chunks, sometimes
// assigns zones to the whole key space, and sometimes drains a shard.
func (w *world) randomizeLayout(rng *rand.Rand, shards int) (about string) {
	chunks := 1 + rng.IntN(14)
	for i := 1; i < chunks; i++ {
		w.admin(bson.D{{Key: "split", Value: "db.t"}, {Key: "middle", Value: keyDocument(i * 10)}})
	}
	for i := range chunks {
		if to := rng.IntN(shards + 1); to > 1 { // most chunks stay on the first shard
			w.admin(bson.D{{Key: "moveChunk", Value: "db.t"}, {Key: "find", Value: keyDocument(i*10 + 1)},
				{Key: "to", Value: fmt.Sprintf("shard-rs-%d", to)}})
		}
	}
	about = fmt.Sprintf("%d chunks, %d shards", chunks, shards)
	if rng.IntN(2) == 0 {
		// Two adjacent zones, whose common bound is a chunk bound or inside a chunk.
		edge := 10*rng.IntN(chunks+1) + 5*rng.IntN(2)
		for z, r := range [][2]bson.D{{{{Key: "p", Value: bson.MinKey{}}}, keyDocument(edge)},
			{keyDocument(edge), {{Key: "p", Value: bson.MaxKey{}}}}} {
			zone := fmt.Sprintf("z%d", z)
			some := false
			for s := 1; s <= shards; s++ {
				if rng.IntN(2) == 0 || s == shards && !some {
					some = true
					w.admin(bson.D{{Key: "addShardToZone", Value: fmt.Sprintf("shard-rs-%d", s)}, {Key: "zone", Value: zone}})
				}
			}
			w.admin(bson.D{{Key: "updateZoneKeyRange", Value: "db.t"}, {Key: "min", Value: r[0]}, {Key: "max", Value: r[1]},
				{Key: "zone", Value: zone}})
		}
		about += fmt.Sprintf(", zones meet at %d", edge)
	} else if rng.IntN(2) == 0 {
		victim := fmt.Sprintf("shard-rs-%d", 1+rng.IntN(shards))
		w.admin(bson.D{{Key: "removeShard", Value: victim}})
		about += ", draining " + victim
	}
	return about
}

// The next round makes exactly the predicted moves, and Explain returns "moves" for
// exactly these chunks.
func TestNextRoundMakesExactlyThePredictedMoves(t *testing.T) {
	layouts, moved, split, still := 50, 0, 0, 0
	switch {
	case testing.Short():
		layouts = 20
	case os.Getenv("SHARDBOARD_LONG") != "":
		layouts = 600
	}
	for seed := range layouts {
		rng := rand.New(rand.NewPCG(uint64(seed), 6))
		shards := 2 + rng.IntN(4)
		onSimulatedCluster(t, shards, func(w *world) {
			about := w.randomizeLayout(rng, shards)
			time.Sleep(20 * time.Minute) // until orphans of the moves are deleted
			w.admin(bson.D{{Key: "balancerStart", Value: 1}})
			before := w.loadTable()
			c := before.Collection("db.t")
			plan := balance.PlanOf(balance.Situation{Table: before}, c)
			n, _ := w.roundCount()
			for {
				time.Sleep(50 * time.Millisecond)
				if now, running := w.roundCount(); now > n && !running {
					break
				}
			}
			after := w.loadTable().Collection("db.t")
			w.admin(bson.D{{Key: "balancerStop", Value: 1}})

			expected := func(ch topology.Chunk) string {
				for _, m := range plan.Moves() {
					if m.Min.Compare(ch.Min) <= 0 && ch.Min.Compare(m.Max) < 0 {
						return m.To
					}
				}
				_, was := c.Chunks.Find(ch.Min)
				return was.Shard
			}
			gone := map[int]bool{} // chunks that moved, whole or in part
			for _, ch := range after.Chunks.All() {
				if want := expected(ch); ch.Shard != want {
					t.Errorf("seed %d (%s): %s is on %s, predicted %s\nplan %+v", seed, about, c.Key.Display(ch.Min), ch.Shard, want, plan.Moves())
				}
				if i, was := c.Chunks.Find(ch.Min); was.Shard != ch.Shard {
					gone[i] = true
					moved++
				}
			}
			for i := range c.Chunks.Len() {
				e := plan.Explain(i)
				if (e.Decision == balance.Moves) != gone[i] {
					t.Errorf("seed %d (%s): chunk %d moved: %t, explained as %s\n%+v", seed, about, i, gone[i], e.Decision, e.Verdicts)
				}
			}
			if len(gone) == 0 {
				still++
			}
			split += plan.Splits()
		})
	}
	if moved == 0 || still == 0 || split == 0 {
		t.Fatalf("%d moves, %d rounds without moves, %d splits: too few to test anything", moved, still, split)
	}
	t.Logf("%d layouts: %d moves, %d rounds without any, %d chunks cut at zone edges", layouts, moved, still, split)
}
