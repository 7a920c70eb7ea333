package cluster_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/cluster"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster"
	"shardboard/internal/topology"
)

// world drives random administration of a simulated cluster.
type world struct {
	t   *testing.T
	sim *simcluster.Cluster
	rng *rand.Rand
	ns  []string
}

var asc, hashed = int32(1), "hashed"

var patterns = []bson.D{
	{{Key: "p", Value: asc}},
	{{Key: "k", Value: hashed}},
	{{Key: "p", Value: asc}, {Key: "k", Value: hashed}},
	{{Key: "p", Value: asc}, {Key: "k", Value: asc}},
}

// step does one random thing that really happened, and says what. The table it
// goes by may be old; what no longer fits fails, and something else is tried.
func (w *world) step(current func() *topology.Table) string {
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
			key, ok := w.inside(c, chunk)
			if !ok {
				continue
			}
			what, err = "split", run(w.t, w.sim, "admin", bson.D{{Key: "split", Value: ns}, {Key: "middle", Value: w.document(c, key)}})
		case op < 14:
			to := table.Shards[w.rng.IntN(len(table.Shards))].Name
			if to == chunk.Shard {
				continue
			}
			what, err = "move", run(w.t, w.sim, "admin", bson.D{{Key: "moveChunk", Value: ns}, {Key: "bounds", Value: bson.A{lower, upper}}, {Key: "to", Value: to}})
		case op < 19:
			j := i
			for j+1 < c.Chunks.Len() && c.Chunks.Owner(j+1) == chunk.Shard && j-i < 4 {
				j++
			}
			if j == i {
				continue
			}
			what, err = "merge", run(w.t, w.sim, "admin", bson.D{{Key: "mergeChunks", Value: ns}, {Key: "bounds", Value: bson.A{lower, w.document(c, c.Chunks.At(j).Max)}}})
		default:
			what, err = "drop", run(w.t, w.sim, ns[:1], bson.D{{Key: "drop", Value: ns[2:]}})
			if w.rng.IntN(2) == 0 && err == nil { // at once anew, so that one poll sees only the new life
				must(w.t, w.shard(ns))
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

func (w *world) shard(ns string) error {
	key := patterns[w.rng.IntN(len(patterns))]
	return run(w.t, w.sim, "admin", bson.D{{Key: "shardCollection", Value: ns}, {Key: "key", Value: key}})
}

func (w *world) document(c *topology.Collection, k shardkey.Key) bson.Raw {
	d, err := c.Key.Document(k)
	must(w.t, err)
	return d
}

// inside draws a key inside a chunk, as a complete bound.
func (w *world) inside(c *topology.Collection, chunk topology.Chunk) (shardkey.Key, bool) {
	for range 50 {
		d := bson.D{}
		for _, f := range c.Key.Fields() {
			v := any(int64(w.rng.IntN(1000)))
			if f.Hashed {
				v = int64(w.rng.Uint64())
			}
			d = append(d, bson.E{Key: f.Name, Value: v})
		}
		raw, err := bson.Marshal(d)
		must(w.t, err)
		k, err := c.Key.Bound(raw)
		must(w.t, err)
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

func TestAfterEveryPollTheTableEqualsAFullLoad(t *testing.T) {
	for _, c := range []struct {
		version string
		steps   int
	}{{"5.0", 210}, {"4.4", 40}, {"8.0", 40}} {
		t.Run(c.version, func(t *testing.T) { walkAndCompare(t, c.version, c.steps) })
	}
}

func walkAndCompare(t *testing.T, version string, steps int) {
	onSim(t, simcluster.Options{ServerVersion: version, Empty: true, Still: true}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		ctx := t.Context()
		must(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}}))
		world := &world{t: t, sim: sim, rng: rand.New(rand.NewPCG(4, 4)), ns: []string{"d.a", "d.b", "d.c", "d.d"}}
		w := topology.NewWatcher(c, topology.Options{})
		must(t, w.Refresh(ctx))
		done := map[string]int{}
		for i := range steps {
			what := world.step(w.Table)
			done[what[:4]]++
			must(t, w.Refresh(ctx))
			full, err := topology.NewWatcher(c, topology.Options{}).Load(ctx)
			must(t, err)
			if err := sameTables(w.Table(), full); err != nil {
				t.Fatalf("after step %d (%s): %v", i, what, err)
			}
			for _, col := range w.Table().Collections {
				checkCover(t, col)
			}
		}
		for _, what := range []string{"spli", "move", "merg", "drop"} {
			if done[what] < steps/50 {
				t.Errorf("the walk was too tame: %v", done)
			}
		}
	})
}

// checkCover is the promise no published table breaks.
func checkCover(t *testing.T, col *topology.Collection) {
	t.Helper()
	next := col.Key.Min()
	for i, ch := range col.Chunks.All() {
		if ch.Min.Compare(next) != 0 || ch.Min.Compare(ch.Max) >= 0 {
			t.Fatalf("%s: gap or overlap before chunk %d", col.NS, i)
		}
		next = ch.Max
	}
	if next.Compare(col.Key.Max()) != 0 {
		t.Fatalf("%s does not reach the end", col.NS)
	}
}

// Polls that run while the cluster changes: whatever moment they catch, only
// whole tables of one life each are published.
func TestTablesPublishedDuringChangesAreWhole(t *testing.T) {
	onSim(t, simcluster.Options{Empty: true, Still: true, Pace: 0.01}, func(t *testing.T, sim *simcluster.Cluster, c *cluster.Client, _ *counter) {
		must(t, run(t, sim, "admin", bson.D{{Key: "enableSharding", Value: "d"}}))
		w := topology.NewWatcher(c, topology.Options{Routing: 20 * time.Millisecond, Sweep: time.Second, Statistics: time.Hour})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error)
		go func() { done <- w.Run(ctx) }()
		_, changed, end := w.Subscribe()
		defer end()
		watched := make(chan struct{})
		tables := 0
		go func() {
			defer close(watched)
			for {
				select {
				case <-changed:
				case <-ctx.Done():
					return
				}
				tables++
				for _, col := range w.Table().Collections {
					checkCover(t, col)
					if h := col.Chunks.Highest(); h != col.Highest {
						t.Errorf("%s at %s has chunks of %s", col.NS, col.Highest, h)
					}
				}
			}
		}()
		defer func() {
			cancel()
			must(t, <-done)
			<-watched
			if tables < 30 {
				t.Errorf("only %d tables were published", tables)
			}
		}()
		synctest.Wait()
		world := &world{t: t, sim: sim, rng: rand.New(rand.NewPCG(5, 5)), ns: []string{"d.a", "d.b"}}
		for range 100 {
			world.step(w.Table)
			time.Sleep(time.Duration(world.rng.IntN(4)) * 10 * time.Millisecond) // often at the moment of a poll
		}
		time.Sleep(time.Second)
		synctest.Wait()
		full, err := topology.NewWatcher(c, topology.Options{}).Load(t.Context())
		must(t, err)
		if err := sameTables(w.Table(), full); err != nil {
			t.Error(err)
		}
	})
}
