package cluster_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// randomAdmin runs random administration commands on a simulated cluster.
type randomAdmin struct {
	t   *testing.T
	sim *simcluster.Cluster
	rng *rand.Rand
	ns  []string

	ranges, tidies bool // the server has moveRange, mergeAllChunksOnShard
}

var asc, hashed = int32(1), "hashed"

var patterns = []bson.D{
	{{Key: "p", Value: asc}},
	{{Key: "k", Value: hashed}},
	{{Key: "p", Value: asc}, {Key: "k", Value: hashed}},
	{{Key: "p", Value: asc}, {Key: "k", Value: asc}},
}

// randomCommand runs random commands until one succeeds and describes it. The table may be
// outdated, so commands may fail.
func (w *randomAdmin) randomCommand(current func() *topology.Table) string {
	for range 100 {
		table := current()
		ns := w.ns[w.rng.IntN(len(w.ns))]
		c := table.Collection(topology.Namespace(ns))
		if c == nil {
			if w.shard(ns) == nil {
				return "shard " + ns
			}
			time.Sleep(2 * time.Millisecond)
			continue
		}
		i := w.rng.IntN(c.Chunks.Len())
		chunk := c.Chunks.At(i)
		lower, upper := w.document(c, chunk.Min), w.document(c, chunk.Max)
		var err error
		var what string
		switch op := w.rng.IntN(20); {
		case op < 9:
			key, ok := w.keyInside(c, chunk)
			if !ok {
				continue
			}
			what, err = "split", run(w.t, w.sim, "admin", bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: w.document(c, key)}})
		case op < 14:
			to := table.Shards[w.rng.IntN(len(table.Shards))].Name
			if to == chunk.Shard {
				continue
			}
			if key, ok := w.keyInside(c, chunk); ok && w.ranges && w.rng.IntN(2) == 0 {
				lower = w.document(c, key) // moves moves only the upper part of the chunk
				what, err = "range", run(w.t, w.sim, "admin",
					bson.D{{Key: "moveRange", Value: ns}, {Key: "min", Value: lower}, {Key: "max", Value: upper}, {Key: "toShard", Value: to}})
				break
			}
			what, err = "move", run(w.t, w.sim, "admin",
				bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bson.A{lower, upper}}, {Key: "to", Value: to}})
		case op < 19:
			j := i
			for j+1 < c.Chunks.Len() && c.Chunks.Owner(j+1) == chunk.Shard && j-i < 4 {
				j++
			}
			if j == i {
				continue
			}
			if w.tidies && w.rng.IntN(3) == 0 {
				time.Sleep(6 * time.Minute) // recently moved chunks are not merged
				what, err = "tidy", run(w.t, w.sim, "admin", bson.D{{Key: "mergeAllChunksOnShard", Value: ns}, {Key: "shard", Value: chunk.Shard}})
				break
			}
			what, err = "merge", run(w.t, w.sim, "admin",
				bson.D{{Key: "mergeChunks", Value: ns}, {Key: "bounds", Value: bson.A{lower, w.document(c, c.Chunks.At(j).Max)}}})
		default:
			what, err = "drop", run(w.t, w.sim, ns[:1], bson.D{{Key: "drop", Value: ns[2:]}})
			if w.rng.IntN(2) == 0 && err == nil { // recreate at once, so that a poll sees only the new incarnation
				must.Do(w.t, w.shard(ns))
			}
		}
		if err == nil {
			return what + " " + ns
		}
		time.Sleep(2 * time.Millisecond)
	}
	w.t.Fatal("nothing works any more")
	return ""
}

func (w *randomAdmin) shard(ns string) error {
	key := patterns[w.rng.IntN(len(patterns))]
	if err := run(w.t, w.sim, "admin", bson.D{{Key: "shardCollection", Value: ns}, {Key: "key", Value: key}}); err != nil {
		return err
	}
	docs := make(bson.A, 200)
	for i := range docs {
		docs[i] = bson.D{{Key: "_id", Value: int32(i)}, {Key: "p", Value: int64(i * 5)}, {Key: "k", Value: int64(i)}}
	}
	return run(w.t, w.sim, ns[:1], bson.D{{Key: "insert", Value: ns[2:]}, {Key: "documents", Value: docs}})
}

func (w *randomAdmin) document(c *topology.Collection, k shardkey.Key) bson.Raw {
	return must.Get(c.Key.Document(k))
}

// keyInside returns a random key inside a chunk, as a complete bound.
func (w *randomAdmin) keyInside(c *topology.Collection, chunk topology.Chunk) (shardkey.Key, bool) {
	for range 50 {
		d := bson.D{}
		for _, f := range c.Key.Fields() {
			v := any(int64(w.rng.IntN(1000)))
			if f.Hashed {
				v = int64(w.rng.Uint64())
			}
			d = append(d, bson.E{Key: f.Name, Value: v})
		}
		raw := must.Get(bson.Marshal(d))
		k := must.Get(c.Key.Bound(raw))
		if k.Compare(chunk.Min) > 0 && k.Compare(chunk.Max) < 0 {
			return k, true
		}
	}
	return shardkey.Key{}, false
}

func sameTables(a, b *topology.Table) error {
	if len(a.Collections) != len(b.Collections) {
		return fmt.Errorf("%d collections, want %d", len(a.Collections), len(b.Collections))
	}
	for i, x := range a.Collections {
		y := b.Collections[i]
		if x.NS != y.NS || x.Incarnation != y.Incarnation || !x.Key.Equal(y.Key) || x.Highest != y.Highest {
			return fmt.Errorf("%s at %s, want %s at %s", x.NS, x.Highest, y.NS, y.Highest)
		}
		if !x.Chunks.Equal(y.Chunks) {
			return fmt.Errorf("chunks of %s differ", x.NS)
		}
	}
	return nil
}

func TestTableEqualsAFullLoadAfterEveryPoll(t *testing.T) {
	for _, c := range []struct {
		name  string
		o     simcluster.Options
		steps int
	}{
		{"5.0", simcluster.Options{ServerVersion: "5.0"}, 210},
		{"4.4", simcluster.Options{ServerVersion: "4.4", Shards: 2}, 60},
		{"6.0", simcluster.Options{ServerVersion: "6.0", Shards: 2}, 60},
		{"7.0", simcluster.Options{ServerVersion: "7.0", Shards: 2}, 60},
		{"8.0", simcluster.Options{ServerVersion: "8.0", Shards: 2}, 60},
		{"8.0 with a config shard and shard uuids", simcluster.Options{ServerVersion: "8.0", Shards: 2, ConfigShard: true, ShardUUIDs: true}, 60},
	} {
		if testing.Short() {
			c.steps /= 2
		}
		t.Run(c.name, func(t *testing.T) { walkAndCompare(t, c.o, c.steps) })
	}
}

func walkAndCompare(t *testing.T, o simcluster.Options, steps int) {
	o.Empty, o.Still = true, true
	onSim(t, o, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		ctx := t.Context()
		must.Do(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}}))
		world := &randomAdmin{
			t: t, sim: sim, rng: rand.New(rand.NewPCG(4, 4)), ns: []string{"d.a", "d.b", "d.c", "d.d"},
			ranges: o.ServerVersion >= "6", tidies: o.ServerVersion >= "7",
		}
		w := topology.NewWatcher(c, topology.Options{})
		must.Do(t, w.Refresh(ctx))
		done := map[string]int{}
		for i := range steps {
			what := world.randomCommand(w.Table)
			done[what[:4]]++
			must.Do(t, w.Refresh(ctx))
			full, err := topology.NewWatcher(c, topology.Options{}).Load(ctx)
			must.Do(t, err)
			if err := sameTables(w.Table(), full); err != nil {
				t.Fatalf("after step %d (%s): %v", i, what, err)
			}
			for _, col := range w.Table().Collections {
				checkCover(t, col)
			}
		}
		wanted := []string{"spli", "move", "merg", "drop"}
		if world.ranges {
			wanted = append(wanted, "rang")
		}
		if world.tidies {
			wanted = append(wanted, "tidy")
		}
		for _, what := range wanted {
			expect.That(t, done[what] >= steps/50, "the walk was too tame: %v", done)
		}
	})
}

// checkCover checks that the chunks of a published table cover the key space.
func checkCover(t *testing.T, col *topology.Collection) {
	t.Helper()
	next := col.Key.Min()
	for i, ch := range col.Chunks.All() {
		must.That(t, ch.Min.Compare(next) == 0 && ch.Min.Compare(ch.Max) < 0, "%s: gap or overlap before chunk %d", col.NS, i)
		next = ch.Max
	}
	must.That(t, next.Compare(col.Key.Max()) == 0, "%s does not reach the end", col.NS)
}
