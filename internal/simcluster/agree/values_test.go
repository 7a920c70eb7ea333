package agree_test

import (
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/must"
)

// edges are numbers near conversion limits.
var edges = []float64{0, 1, -1, 0.5, -0.5, 1.9, -1.9, 1 << 53, 1<<53 + 2, 1 << 62, 1 << 63, -(1 << 63), 1e300, -1e300, 5e-324}

// value draws a value of any type that a shard key can have; depth bounds how far
// documents nest.
func (w *world) value(depth int) bson.RawValue {
	r := w.rng
	var v any
	switch r.IntN(16) {
	case 0, 1:
		v = int32(r.IntN(1000) - 500)
	case 2:
		v = int64(r.Uint64())
	case 3:
		v = int64(1)<<r.IntN(63) - int64(r.IntN(2))
	case 4:
		v = edges[r.IntN(len(edges))]
	case 5:
		v = []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), r.NormFloat64() * 1000}[r.IntN(5)]
	case 6:
		v = w.decimal()
	case 7, 8:
		v = w.text()
	case 9:
		var id bson.ObjectID
		for i := range id {
			id[i] = byte(r.IntN(256))
		}
		v = id
	case 10:
		v = r.IntN(2) == 0
	case 11:
		v = bson.DateTime(int64(r.Uint64()) >> r.IntN(64))
	case 12:
		v = bson.Timestamp{T: r.Uint32(), I: r.Uint32()}
	case 13:
		v = bson.Null{}
	case 14:
		v = bson.Binary{Subtype: []byte{0, 4, 5, 128}[r.IntN(4)], Data: []byte(w.text())}
	default:
		d := bson.D{}
		for range r.IntN(3) {
			if depth > 0 {
				d = append(d, bson.E{Key: w.text(), Value: w.value(depth - 1)})
			}
		}
		v = d
	}
	t, data, err := bson.MarshalValue(v)
	must.Do(w.t, err)
	return bson.RawValue{Type: t, Value: data}
}

func (w *world) text() string {
	letters := []string{"a", "b", "A", "0", "é", "\U0001f600", " ", "~"}
	s := ""
	for range w.rng.IntN(4) {
		s += letters[w.rng.IntN(len(letters))]
	}
	return s
}

func (w *world) decimal() bson.Decimal128 {
	words := []string{"0", "-0", "1", "1.0", "1.9", "2.5", "-3.5", "9223372036854775807", "9223372036854775808",
		"1E+100", "1E-100", "NaN", "Infinity", "-Infinity", "123456789012345678.5"}
	d, err := bson.ParseDecimal128(words[w.rng.IntN(len(words))])
	must.Do(w.t, err)
	return d
}
