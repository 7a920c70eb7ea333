package placement_test

import (
	"math/rand/v2"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// sampleKey is a document's shard key before hashing.
type sampleKey struct {
	values []bson.RawValue
	bound  bool // taken from a chunk's bound
}

type valueGenerator struct{ *rand.Rand }

func (d valueGenerator) sampleKey(t *testing.T, c *topology.Collection) sampleKey {
	t.Helper()
	q := sampleKey{values: make([]bson.RawValue, c.Key.Len())}
	ids := c.NS.Database() != agreementDB
	var near []bson.RawValue
	if d.IntN(3) == 0 {
		var err error
		if near, err = c.Key.Values(c.Chunks.At(d.IntN(c.Chunks.Len())).Min); err != nil {
			t.Fatal(err)
		}
	}
	for i, f := range c.Key.Fields() {
		switch {
		case near != nil && !f.Hashed:
			q.values[i], q.bound = near[i], true
		case ids && d.IntN(8) > 0:
			q.values[i] = rawValue(d.objectID())
		default:
			q.values[i] = d.value(2)
		}
	}
	return q
}

// bound returns a key at which a chunk can be split; hashed fields are given as hashes.
func (d valueGenerator) bound(t *testing.T, p shardkey.Pattern) shardkey.Key {
	t.Helper()
	doc := bson.D{}
	for _, f := range p.Fields() {
		v := d.value(1)
		for v.Type == bson.TypeMinKey || v.Type == bson.TypeMaxKey {
			v = d.value(1)
		}
		switch {
		case f.Hashed:
			v = rawValue(int64(d.Uint64()))
		case d.IntN(3) == 0:
			v = rawValue(d.objectID())
		}
		doc = append(doc, bson.E{Key: f.Name, Value: v})
	}
	raw := must.Get(bson.Marshal(doc))
	k := must.Get(p.Bound(raw))
	return k
}

func rawValue(v any) bson.RawValue {
	typ, value, err := bson.MarshalValue(v)
	if err != nil {
		panic(err) // cannot happen: all values are made in this file
	}
	return bson.RawValue{Type: typ, Value: value}
}
