package conformance_test

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/topology"
)

// randomKeyValue returns a random value of a type that a shard key can have. null is
// excluded because an equality with null also matches missing fields.
func randomKeyValue(r *rand.Rand) any {
	switch r.IntN(11) {
	case 0:
		return int32(r.IntN(100))
	case 1:
		return r.Int64() - r.Int64()
	case 2:
		return float64(r.IntN(100)) + r.Float64()
	case 3:
		return string([]byte{byte('a' + r.IntN(26)), byte('a' + r.IntN(26))})
	case 4:
		var id bson.ObjectID
		binary.BigEndian.PutUint64(id[:], r.Uint64())
		return id
	case 5:
		return time.UnixMilli(r.Int64N(2e12)).UTC()
	case 6:
		return r.IntN(2) == 0
	case 7:
		return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: binary.BigEndian.AppendUint64(make([]byte, 8), r.Uint64())}
	case 8:
		return bson.NewDecimal128(0x3040000000000000, r.Uint64()>>12)
	case 9:
		return bson.D{{Key: "a", Value: int32(r.IntN(10))}, {Key: "b", Value: "x"}}
	}
	return int64(r.IntN(100))
}

// keyKinds are the kinds of shard key that a collection can have.
var keyKinds = []struct {
	name   string
	key    bson.D
	splits []bson.D
}{
	{"ranged", bson.D{{Key: "p", Value: 1}}, []bson.D{
		{{Key: "p", Value: int32(30)}}, {{Key: "p", Value: 60.5}}, {{Key: "p", Value: "m"}},
		{{Key: "p", Value: bson.ObjectID{0x80}}}, {{Key: "p", Value: true}},
	}},
	{"hashed", bson.D{{Key: "k", Value: "hashed"}}, []bson.D{
		{{Key: "k", Value: int64(-7e18)}}, {{Key: "k", Value: int64(12345)}}, {{Key: "k", Value: int64(7e18)}},
	}},
	{"mixed", bson.D{{Key: "p", Value: 1}, {Key: "k", Value: "hashed"}}, []bson.D{
		{{Key: "p", Value: int32(30)}, {Key: "k", Value: bson.MinKey{}}}, {{Key: "p", Value: int32(30)}, {Key: "k", Value: int64(0)}},
		{{Key: "p", Value: "m"}, {Key: "k", Value: int64(5e18)}},
	}},
	{"compound", bson.D{{Key: "p", Value: 1}, {Key: "k", Value: 1}}, []bson.D{
		{{Key: "p", Value: int32(30)}, {Key: "k", Value: "m"}}, {{Key: "p", Value: int32(30)}, {Key: "k", Value: bson.MaxKey{}}},
		{{Key: "p", Value: "m"}, {Key: "k", Value: bson.MinKey{}}},
	}},
}

func TestRoutingTableAndServerTargetTheSameShard(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		w.needShards(2)
		keys := 200
		if testing.Short() {
			keys = 30
		}
		r := rand.New(rand.NewPCG(7, 1))
		for _, kind := range keyKinds {
			f := w.scatteredCollection(kind.name, kind.key, kind.splits)
			shards := map[string]bool{}
			for range keys {
				var filter bson.D
				var values []bson.RawValue
				for i, field := range kind.key {
					v := randomKeyValue(r)
					if i == 0 && len(kind.key) > 1 && r.IntN(4) == 0 {
						v = int32(30) // where several chunks begin
					}
					filter = append(filter, bson.E{Key: field.Key, Value: bson.D{{Key: "$eq", Value: v}}})
					values = append(values, marshal(bson.D{{Key: "v", Value: v}}).Lookup("v"))
				}
				key, err := f.meta.Key.KeyOf(values...)
				must.Do(t, err)
				want := f.chunkOf(key).Shard
				got, err := w.client.TargetShards(w.Context(), f.meta.NS, filter)
				must.Do(t, err)
				if !slices.Equal(got, []string{want}) {
					t.Errorf("%s %v: the server asks %v, the table says %s", kind.name, filter, got, want)
				}
				shards[want] = true
			}
			expect.That(t, len(shards) >= 2, "%s: all keys are on one shard", kind.name)
		}
	})
}

// scatteredCollection makes a collection with chunks alternating over all shards.
func (w *world) scatteredCollection(name string, key bson.D, splits []bson.D) *follower {
	w.Helper()
	ns := w.shardCollection(name, key)
	for _, at := range splits {
		must.Do(w, w.send(w.Context(), operation.Step{Op: operation.OpSplitAt, NS: ns, At: marshal(at)}))
	}
	f := w.follow(ns)
	for i, c := range f.chunks {
		lower, upper := f.boundDocuments(c)
		must.Do(w, w.send(w.Context(), operation.Step{Op: operation.OpMove, NS: ns, Min: lower, Max: upper, Shard: w.shards[i%len(w.shards)]}))
	}
	return w.follow(ns)
}

func TestMetadataIsReadFromEveryTarget(t *testing.T) {
	onEvery(t, func(t *testing.T, w *world) {
		ns := w.shardCollection("ranged", bson.D{{Key: "p", Value: 1}})
		must.Do(t, w.data.Database(w.db).CreateCollection(w.Context(), "plain"))
		if w.server.ClusterID == "" || w.server.Version == "" {
			t.Errorf("got %+v, want ClusterID not empty, Version not empty", w.server)
		}
		colls, err := w.source.Collections(w.Context(), w.db)
		must.Do(t, err)
		for _, want := range []topology.Namespace{ns, topology.Namespace(w.db + ".plain")} {
			expect.That(t, slices.Contains(colls, want), "%s is not in %v", want, colls)
		}
		databases, err := w.source.Databases(w.Context())
		must.Do(t, err)
		at := slices.IndexFunc(databases, func(d topology.Database) bool { return d.Name == w.db })
		expect.That(t, at >= 0 && slices.Contains(w.shards, databases[at].Primary), "%s in %v", w.db, databases)
		routers, err := w.source.Routers(w.Context())
		must.Do(t, err)
		if len(routers) == 0 || routers[0].Version == "" || routers[0].Ping.IsZero() {
			t.Errorf("got routers %v, want at least one with version and ping time", routers)
		}
		f := w.follow(ns)
		n := 0
		must.Do(t, w.source.ChunksFrom(w.Context(), f.meta, f.meta.Key.Min(), 5, func(topology.Chunk) error { n++; return nil }))
		expect.That(t, n == len(f.chunks), "%d chunks in key order, %d in all", n, len(f.chunks))
	})
}
