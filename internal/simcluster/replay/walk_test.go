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
func TestAnyWalkKeepsItsPromises(t *testing.T) {
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
					w.step()
				}
				for _, c := range w.colls {
					w.whole(c)
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
	w.must("admin", bson.D{{Key: "enableSharding", Value: "w"}, {Key: "primaryShard", Value: w.shard()}})
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
		w.must("admin", bson.D{{Key: "shardCollection", Value: c.ns()}, {Key: "key", Value: k.key}})
		w.insert(c, 40)
	}
	return w
}

func (w *walk) shard() string { return fmt.Sprintf("shard-rs-%d", 1+w.rng.IntN(3)) }

// p and k are the values of the two fields: few projects, keys of four types.
func (w *walk) p() any { return bson.ObjectID{0x66, 0, byte(w.rng.IntN(24)), 1} }

func (w *walk) k() any {
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
		d := bson.D{{Key: "_id", Value: w.next}, {Key: "p", Value: w.p()}, {Key: "k", Value: w.k()},
			{Key: "pad", Value: strings.Repeat("x", w.rng.IntN(60))}}
		docs = append(docs, d)
		c.docs[w.next] = encode(d)
	}
	reply := w.must("w", bson.D{{Key: "insert", Value: c.name}, {Key: "documents", Value: docs}})
	if got := reply.Lookup("n").Int32(); got != int32(n) {
		w.t.Fatalf("inserted %d of %d: %s", got, n, reply)
	}
}

// step runs one operation and checks its effects.
func (w *walk) step() {
	c := w.colls[w.rng.IntN(len(w.colls))]
	switch w.rng.IntN(12) {
	case 0:
		w.insert(c, 1+w.rng.IntN(20))
	case 1, 2, 3:
		w.split(c)
	case 4, 5:
		w.move(c)
	case 6:
		w.merge(c)
	case 7:
		w.zone(c)
	case 8:
		w.explain(c)
	case 9:
		w.change(c)
	case 10:
		w.read(c)
	case 11:
		w.mistake(c)
	}
	w.chunks(c)
}

func encode(v any) bson.Raw {
	raw, err := bson.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}
