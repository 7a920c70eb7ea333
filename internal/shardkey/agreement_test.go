package shardkey_test

import (
	"cmp"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/simcluster/engine/value"
)

// Compares with the simulated cluster, which has an independent comparison and hash.
// 200 keys a round, 100 rounds unless -rapid.checks is given.
func TestComparisonAndHashAgreeWithTheSimulatedCluster(t *testing.T) {
	p := must.Get(shardkey.ParsePattern(pattern(t, "a", "b")))
	rapid.Check(t, func(rt *rapid.T) {
		var last []bson.RawValue
		var lastKey shardkey.Key
		for range 200 {
			values := []bson.RawValue{drawKeyValue(rt), drawKeyValue(rt)}
			if last != nil && rapid.Bool().Draw(rt, "same") {
				values[0] = last[0]
			}
			k, err := p.KeyOf(values...)
			if err != nil {
				rt.Fatalf("key of %s: %v", values, err)
			}
			for _, v := range values {
				if h, err := shardkey.Hash(v); err != nil || h != value.Hash(v) {
					rt.Fatalf("hash of %s % x: %d, %v and %d", v, v.Value, h, err, value.Hash(v))
				}
			}
			if last != nil {
				want := cmp.Or(value.Compare(last[0], values[0]), value.Compare(last[1], values[1]))
				if got := lastKey.Compare(k); got != cmp.Compare(want, 0) {
					rt.Fatalf("%s and %s: %d and %d", last, values, got, want)
				}
			}
			last, lastKey = values, k
		}
	})
}

// drawKeyValue returns no arrays, which are not valid in a shard key, and no decimals
// with a coefficient of more than 34 digits: here they count as zero, as in IEEE 754,
// and no driver writes them.
func drawKeyValue(rt *rapid.T) bson.RawValue {
	for {
		v := shardkey.DrawValue(rt)
		if rapid.Bool().Draw(rt, "number") {
			v = shardkey.DrawNumber(rt)
		}
		if v.Type != bson.TypeArray && !shardkey.HasUnusualDecimal(v) {
			return v
		}
	}
}

func pattern(t *testing.T, names ...string) bson.Raw {
	t.Helper()
	doc := bson.D{}
	for _, name := range names {
		doc = append(doc, bson.E{Key: name, Value: 1})
	}
	raw := must.Get(bson.Marshal(doc))
	return raw
}
