package topology

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
)

func hashedPattern(t testing.TB) shardkey.Pattern {
	return pattern(t, bson.E{Key: "k", Value: "hashed"})
}

// No server writes a bound of a hashed field that is no number, but bounds are read from a database.
func TestHashesAreFoundBesideBoundsThatAreNoNumbers(t *testing.T) {
	p, plain := hashedPattern(t), ranged(t)
	typ, val, err := bson.MarshalValue("text")
	must.Do(t, err)
	odd := must.Get(plain.KeyOf(bson.RawValue{Type: typ, Value: val}))
	five := shardkey.HashKey(5)
	m := mustBuild(t, p,
		Chunk{Min: p.Min(), Max: five, Shard: "a", Version: Version{1, 0}},
		Chunk{Min: five, Max: odd, Shard: "b", Version: Version{1, 1}},
		Chunk{Min: odd, Max: p.Max(), Shard: "c", Version: Version{1, 2}})
	for h, want := range map[int64]string{math.MinInt64: "a", 4: "a", 5: "b", 6: "b", math.MaxInt64: "b"} {
		if _, c := m.Find(shardkey.HashKey(h)); c.Shard != want {
			t.Errorf("%d is on %s, want %s", h, c.Shard, want)
		}
	}
}
