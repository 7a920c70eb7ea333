package placement_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

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

// value returns a random value of any type that a shard key and an equality can have:
// no array, no regular expression, not undefined. Values are similar, so that
// comparisons reach their last byte.
func (d valueGenerator) value(depth int) bson.RawValue {
	kinds := 15
	if depth > 0 {
		kinds = 17
	}
	switch d.IntN(kinds) {
	case 0:
		return rawValue(int32(d.IntN(40) - 20))
	case 1:
		return rawValue(int64(d.Uint64()) >> d.IntN(64))
	case 2:
		return rawValue(d.double())
	case 3:
		return rawValue(d.decimal())
	case 4, 5:
		return rawValue(d.text())
	case 6:
		return rawValue(bson.Symbol(d.text()))
	case 7:
		return rawValue(bson.Binary{Subtype: []byte{0, 3, 4, 5, 128}[d.IntN(5)], Data: []byte(d.text())})
	case 8, 9:
		return rawValue(d.objectID())
	case 10:
		return rawValue(d.IntN(2) == 0)
	case 11:
		return rawValue(bson.NewDateTimeFromTime(time.UnixMilli(d.Int64N(1<<42) - 1<<41)))
	case 12:
		return rawValue(bson.Timestamp{T: d.Uint32(), I: d.Uint32() >> 28})
	case 13:
		return rawValue(bson.JavaScript(d.text()))
	case 14:
		return []bson.RawValue{{Type: bson.TypeNull}, {Type: bson.TypeMinKey}, {Type: bson.TypeMaxKey}}[d.IntN(3)]
	case 15:
		return rawValue(bson.CodeWithScope{Code: bson.JavaScript(d.text()), Scope: d.document(depth - 1)})
	}
	return rawValue(d.document(depth - 1))
}

func (d valueGenerator) document(depth int) bson.D {
	doc := bson.D{}
	for i := range d.IntN(3) {
		doc = append(doc, bson.E{Key: string(rune('u' + 2*i + d.IntN(2))), Value: d.value(depth)})
		if d.IntN(2) == 0 {
			break
		}
	}
	return doc
}

// objectID returns an id from the year of the workload's data, or from any year.
func (d valueGenerator) objectID() bson.ObjectID {
	var id bson.ObjectID
	for i := range id {
		id[i] = byte(d.Uint32())
	}
	if d.IntN(2) == 0 {
		copy(id[:], []byte{0x69, byte(d.IntN(256))})
	}
	return id
}

func (d valueGenerator) text() string {
	var b strings.Builder
	for range d.IntN(5) {
		b.WriteString([]string{"a", "b", "ab", "\x00", "\x01", "é", "\U0010ffff", "~"}[d.IntN(8)])
	}
	return b.String()
}

func (d valueGenerator) double() float64 {
	switch d.IntN(4) {
	case 0:
		return []float64{0.1, 0.5, -0.5, 1.5, math.Exp2(53), math.Exp2(63), -math.Exp2(63), math.Exp2(64), 1e300, -1e300, 5e-324,
			math.Inf(1), math.Inf(-1), math.NaN(), math.Copysign(0, -1)}[d.IntN(15)]
	case 1:
		return math.Float64frombits(d.Uint64())
	}
	return float64(d.IntN(4000)-2000) / 100
}

func (d valueGenerator) decimal() bson.Decimal128 {
	texts := []string{"0", "-0", "1", "1.0", "1.5", "-1.5", "0.1", "9223372036854775807", "9223372036854775808", "-9223372036854775808",
		"1E+6144", "1E-6176", "NaN", "Infinity", "-Infinity", "2.5", "3.5", "1E+40"}
	v, err := bson.ParseDecimal128(texts[d.IntN(len(texts))])
	if err != nil {
		panic(err) // cannot happen: the texts are valid
	}
	return v
}
