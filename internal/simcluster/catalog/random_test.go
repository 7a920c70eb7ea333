package catalog

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// TestAnySequenceOfOperationsKeepsThePartition runs random commands on collections with
// every kind of key and checks the invariants after each.
func TestAnySequenceOfOperationsKeepsThePartition(t *testing.T) {
	for i, version := range allVersions {
		seed := uint64(i)
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := New(Options{Seed: seed, Version: version, OrphanDelay: 30 * time.Second, Pace: 0.1})
				defer c.Close()
				g := &randomOps{fixture: fixture{t: t, c: c, handlers: c.Handlers()}, rng: rand.New(rand.NewPCG(seed, 1))}
				g.setUp()
				for range 120 {
					g.runOne()
					g.checkInvariants()
				}
				for _, ns := range g.names {
					if got := g.documents(ns); got != g.count[ns] {
						t.Fatalf("%s has %d documents, want %d", ns, got, g.count[ns])
					}
				}
			})
		})
	}
}

type randomOps struct {
	fixture
	rng   *rand.Rand
	names []string
	count map[string]int
	next  int32
}

func (g *randomOps) setUp() {
	g.count = make(map[string]int)
	g.mustRun(`{"enableSharding": "db"}`)
	for name, key := range map[string]string{
		"ranged": `{"p": 1}`, "hashed": `{"k": "hashed"}`, "mixed": `{"p": 1, "k": "hashed"}`, "pair": `{"p": 1, "k": 1}`,
	} {
		g.mustRun(`{"shardCollection": "db.` + name + `", "key": ` + key + `}`)
	}
	g.names = []string{"db.hashed", "db.mixed", "db.pair", "db.ranged"}
	g.c.Mu.Lock()
	g.c.setSetting("chunksize", bson.D{{Key: "value", Value: int32(1)}})
	g.c.Mu.Unlock()
}

// runOne runs one random operation. Refusals are expected, other errors are not.
func (g *randomOps) runOne() {
	ns := g.names[g.rng.IntN(len(g.names))]
	var err error
	switch g.rng.IntN(11) {
	case 0, 1:
		g.insertDocuments(ns, 40)
	case 2, 3:
		err = g.try(g.command("split", ns, bson.E{Key: "find", Value: g.randomKey()}))
	case 4, 5:
		err = g.try(g.command("moveChunk", ns, bson.E{Key: "find", Value: g.randomKey()}, bson.E{Key: "to", Value: g.randomShard()}))
	case 6:
		g.c.Mu.RLock()
		r := g.c.Routing(ns)
		i := g.rng.IntN(r.Len())
		j := min(i+1+g.rng.IntN(2), r.Len()-1)
		bounds := bson.A{r.chunks[i].Min, r.chunks[j].Max}
		g.c.Mu.RUnlock()
		err = g.try(g.command("mergeChunks", ns, bson.E{Key: "bounds", Value: bounds}))
	case 9:
		if g.c.since(6) {
			p := g.rng.IntN(50)
			lo, hi := g.randomRange(ns, p, p+1+g.rng.IntN(5))
			err = g.try(g.command("moveRange", ns, bson.E{Key: "min", Value: lo}, bson.E{Key: "max", Value: hi},
				bson.E{Key: "toShard", Value: g.randomShard()}))
		}
	case 10:
		if g.c.since(7) {
			time.Sleep(6 * time.Minute)
			err = g.try(g.command("mergeAllChunksOnShard", ns, bson.E{Key: "shard", Value: g.randomShard()}))
		}
	case 7:
		g.deleteOne(ns)
	case 8:
		time.Sleep(20 * time.Second)
		g.c.Mu.Lock()
		g.c.CleanOrphans()
		g.c.Mu.Unlock()
	}
	if err != nil {
		switch e := status.Of(err); e.Code {
		case status.CannotSplit, status.IllegalOperation, status.OperationFailed, status.ChunkTooBig, status.InvalidOptions, 40165,
			status.StaleConfig, status.UnknownError, status.MaxTimeMSExpired, status.ConflictingOperationInProgress:
		default:
			g.t.Fatalf("%s: %d %v", ns, e.Code, e)
		}
	}
}

func (g *randomOps) command(name, ns string, more ...bson.E) bson.Raw {
	return encode(append(bson.D{{Key: name, Value: ns}}, more...))
}

func (g *randomOps) try(cmd bson.Raw) error {
	_, err := g.run("admin", cmd)
	return err
}

func (g *randomOps) randomKey() bson.D {
	return bson.D{{Key: "p", Value: int32(g.rng.IntN(50))}, {Key: "k", Value: int32(g.rng.IntN(1000))}}
}

// randomRange returns a key range on the first field.
func (g *randomOps) randomRange(ns string, from, to int) (lo, hi bson.Raw) {
	g.c.Mu.RLock()
	defer g.c.Mu.RUnlock()
	r := g.c.Routing(ns)
	key := func(n int) bson.Raw {
		d := value.NewBuilder(32)
		for i, f := range r.pattern.fields {
			v := bson.RawValue{Type: bson.TypeMinKey}
			if i == 0 && f.hashed {
				v = value.Int64(int64(n-25) << 58)
			} else if i == 0 {
				v = value.Int32(int32(n))
			}
			d.Append(f.name, v)
		}
		return d.Raw()
	}
	return key(from), key(to)
}

func (g *randomOps) randomShard() string { return g.c.opts.Shards[g.rng.IntN(3)] }

func (g *randomOps) insertDocuments(ns string, n int) {
	g.c.Mu.Lock()
	defer g.c.Mu.Unlock()
	db, coll, _ := splitNS(ns)
	for range n {
		g.next++
		d := append(bson.D{{Key: "_id", Value: g.next}}, g.randomKey()...)
		raw := encode(append(d, bson.E{Key: "pad", Value: strings.Repeat("x", 2000)}))
		must.Do(g.t, g.insertRouted(db, coll, raw))
		g.count[ns]++
		r := g.c.Routing(ns)
		key, _ := r.KeyOf(raw)
		g.c.NoteWrite(ns, key, len(raw))
	}
}

// deleteOne deletes one owned document.
func (g *randomOps) deleteOne(ns string) {
	g.c.Mu.Lock()
	defer g.c.Mu.Unlock()
	r := g.c.Routing(ns)
	for _, s := range g.c.ShardNames() {
		coll := g.c.data(s, ns)
		if coll == nil {
			continue
		}
		for id, d := range coll.All() {
			if r.Owns(s, d) {
				coll.Delete(id)
				g.count[ns]--
				return
			}
		}
	}
}
