package placement

import (
	"crypto/md5"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/routing"
	"shardboard/internal/topology"
)

// hashedFixture returns a collection of n chunks by the hash of doc_id, and its lower
// bounds as plain numbers. The bounds are even, as shardCollection makes them, or
// random, as after splits.
func hashedFixture(n int, even bool) (*topology.Collection, []int64) {
	p, rng, bounds := routing.Pattern("doc_id#"), rand.New(rand.NewPCG(1, 1)), routing.EvenHashes(n)
	if !even {
		for i := range bounds {
			bounds[i] = int64(rng.Uint64())
		}
		slices.Sort(bounds)
	}
	names := []string{"s1", "s2", "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10", "s11", "s12"}
	return routing.Collection("db.changes", p, routing.Bounds(p, bounds...), names...), append([]int64{math.MinInt64}, bounds...)
}

// BenchmarkLocateHashedKey compares the way of every answer from a stored ObjectID to its
// place (shard, chunk, version, zone) with a lower limit: MD5 and slices.BinarySearch over the
// same bounds, which ends at a
// position. Both run alternately, 500 times each, and the ratio is that of their median
// turns, so that it does not depend on the load of the machine.
func BenchmarkLocateHashedKey(b *testing.B) {
	for _, c := range []struct {
		name string
		n    int
		even bool
	}{{"chunks=1000/even", 1000, true}, {"chunks=1000/random", 1000, false}, {"chunks=10000/even", 10_000, true},
		{"chunks=10000/random", 10_000, false},
		{"chunks=1000000/even", 1_000_000, true}, {"chunks=1000000/random", 1_000_000, false}} {
		coll, bounds := hashedFixture(c.n, c.even)
		b.Run(c.name+"/locate", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				locateOnce(coll, i)
			}
		})
		b.Run(c.name+"/floor", func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				floorOnce(bounds, i)
			}
		})
		b.Run(c.name+"/ratio", func(b *testing.B) {
			const turn = 500
			var ours, floor []time.Duration
			for i := 0; b.Loop(); i += turn {
				start := time.Now()
				for j := range turn {
					locateOnce(coll, i+j)
				}
				middle := time.Now()
				for j := range turn {
					floorOnce(bounds, i+j)
				}
				ours, floor = append(ours, middle.Sub(start)), append(floor, time.Since(middle))
			}
			slices.Sort(ours)
			slices.Sort(floor)
			b.ReportMetric(float64(ours[len(ours)/2])/float64(floor[len(floor)/2]), "ours/floor")
		})
	}
}

// sink prevents the compiler from removing the work.
var sink int

func locateOnce(c *topology.Collection, i int) {
	var id [12]byte
	binary.BigEndian.PutUint64(id[4:], uint64(i))
	shard, err := Owner(c, bson.RawValue{Type: bson.TypeObjectID, Value: id[:]})
	if err != nil {
		panic(err)
	}
	sink += len(shard)
}

func floorOnce(bounds []int64, i int) {
	var in [20]byte // seed, type, id: what the server hashes
	in[4] = 35
	binary.BigEndian.PutUint64(in[12:], uint64(i))
	sum := md5.Sum(in[:])
	at, _ := slices.BinarySearch(bounds, int64(binary.LittleEndian.Uint64(sum[:])))
	sink += at
}
