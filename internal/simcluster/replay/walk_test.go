package replay

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster"
)

// Random walks of administration and reads on collections with every kind of shard key,
// like the recorded walks but with other random choices. They check invariants: chunks
// partition the key space, versions increase, explain names exactly the owners, and
// reads return what was inserted and not deleted. Keys, hashes and order are checked
// with the product's independent implementation.
func TestRandomWalksKeepTheInvariants(t *testing.T) {
	seeds, steps := uint64(20), 60
	if os.Getenv("SHARDBOARD_LONG") != "" {
		seeds, steps = 200, 160
	}
	for seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWalk(t, seed)
				defer w.close()
				for range steps {
					w.runOne()
				}
				for _, c := range w.colls {
					w.checkDocuments(c)
				}
			})
		})
	}
}

// walk is one run: the cluster and its expected content.
type walk struct {
	*player
	rng   *rand.Rand
	colls []*collection
	zones map[string]map[string]bool // shards by zone
	next  int32
}

func newWalk(t *testing.T, seed uint64) *walk {
	p := newPlayer(t, "walk", simcluster.Options{Empty: true, Still: true, Seed: int64(seed + 1)})
	p.cluster.Start(t.Context())
	w := &walk{player: p, rng: rand.New(rand.NewPCG(seed, 3)), zones: map[string]map[string]bool{"za": {}, "zb": {}}}
	w.mustRun("admin", bson.D{{Key: "enableSharding", Value: "w"}, {Key: "primaryShard", Value: w.randomShard()}})
	for _, k := range []struct {
		name string
		key  bson.D
	}{
		{"ranged", bson.D{{Key: "p", Value: int32(1)}}},
		{"hashed", bson.D{{Key: "k", Value: "hashed"}}},
		{"mixed", bson.D{{Key: "p", Value: int32(1)}, {Key: "k", Value: "hashed"}}},
		{"pair", bson.D{{Key: "p", Value: int32(1)}, {Key: "k", Value: int32(1)}}},
	} {
		c := newCollection(t, k.name, k.key)
		w.colls = append(w.colls, c)
		w.mustRun("admin", bson.D{{Key: "shardCollection", Value: c.ns()}, {Key: "key", Value: k.key}})
		w.insert(c, 40)
	}
	return w
}

func (w *walk) randomShard() string { return fmt.Sprintf("shard-rs-%d", 1+w.rng.IntN(3)) }

// randomProject and randomKey return values of the two fields: few projects, and keys
// of four types.
func (w *walk) randomProject() any { return bson.ObjectID{0x66, 0, byte(w.rng.IntN(24)), 1} }

func (w *walk) randomKey() any {
	n := w.rng.IntN(60)
	switch w.rng.IntN(4) {
	case 0:
		return int32(n)
	case 1:
		return int64(n)
	case 2:
		return float64(n) + 0.5
	}
	return fmt.Sprintf("key-%02d", n)
}

func (w *walk) insert(c *collection, n int) {
	docs := bson.A{}
	for range n {
		w.next++
		d := bson.D{{Key: "_id", Value: w.next}, {Key: "p", Value: w.randomProject()}, {Key: "k", Value: w.randomKey()},
			{Key: "pad", Value: strings.Repeat("x", w.rng.IntN(60))}}
		docs = append(docs, d)
		c.docs[w.next] = encode(d)
	}
	reply := w.mustRun("w", bson.D{{Key: "insert", Value: c.name}, {Key: "documents", Value: docs}})
	if got := reply.Lookup("n").Int32(); got != int32(n) {
		w.t.Fatalf("inserted %d of %d: %s", got, n, reply)
	}
}

// runOne runs one operation and checks its effects.
func (w *walk) runOne() {
	c := w.colls[w.rng.IntN(len(w.colls))]
	switch w.rng.IntN(12) {
	case 0:
		w.insert(c, 1+w.rng.IntN(20))
	case 1, 2, 3:
		w.splitChunk(c)
	case 4, 5:
		w.moveChunk(c)
	case 6:
		w.mergeChunks(c)
	case 7:
		w.changeZone(c)
	case 8:
		w.checkExplain(c)
	case 9:
		w.changeDocuments(c)
	case 10:
		w.checkReads(c)
	case 11:
		w.checkMistake(c)
	}
	w.checkChunks(c)
}

func encode(v any) bson.Raw {
	raw, err := bson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
