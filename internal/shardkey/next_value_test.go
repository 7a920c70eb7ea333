package shardkey

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
)

var one = Pattern{fields: []Field{{Name: "v"}}}

// fraction tells whether a number is not whole, or too large to tell.
func fraction(v bson.RawValue) bool {
	if d, ok := v.Decimal128OK(); ok {
		n, exp, err := d.BigInt()
		return err != nil || exp != 0 || !n.IsInt64()
	}
	f, ok := v.DoubleOK()
	return ok && (f != math.Trunc(f) || math.Abs(f) >= 1<<63)
}

func TestNothingIsBetweenAValueAndTheNextButFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawComparable(t, 2)
		next, ok := NextValue(v)
		if !ok {
			return
		}
		if before, ok := PreviousValue(next); ok && CompareValues(before, v) != 0 {
			t.Fatalf("before %s is %s, want %s", DisplayValue(next), DisplayValue(before), DisplayValue(v))
		}
		lo, errLo := one.KeyOf(v)
		hi, errHi := one.KeyOf(next)
		if errLo != nil || errHi != nil {
			return // too deep
		}
		if lo.Compare(hi) >= 0 {
			t.Fatalf("%s is not after %s", DisplayValue(next), DisplayValue(v))
		}
		other := drawComparable(t, 2)
		k, err := one.KeyOf(other)
		if err == nil && k.Compare(lo) > 0 && k.Compare(hi) < 0 && !fraction(other) {
			t.Fatalf("%s is between %s and %s", DisplayValue(other), DisplayValue(v), DisplayValue(next))
		}
	})
}

func TestRangeOfOneValueEndsAtTheNext(t *testing.T) {
	uuid := func(last byte) bson.Binary { return bson.Binary{Subtype: 4, Data: []byte{15: last}} }
	dec := func(s string) bson.Decimal128 {
		d, err := bson.ParseDecimal128(s)
		must.Do(t, err)
		return d
	}
	for _, tc := range []struct{ v, want any }{
		{bson.ObjectID{11: 7}, bson.ObjectID{11: 8}},
		{bson.ObjectID{255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255}, false},
		{"t-3", "t-3\x00"},
		{"", "\x00"},
		{int32(5), int32(6)},
		{int32(math.MaxInt32), int64(math.MaxInt32) + 1},
		{int64(-1), int64(0)},
		{int64(math.MaxInt64), float64(1 << 63)},
		{5.0, 6.0},
		{0.5, math.Nextafter(0.5, 1)},
		{float64(1 << 53), int64(1<<53) + 1},
		{1e30, math.Nextafter(1e30, math.Inf(1))},
		{math.Inf(1), ""},
		{math.NaN(), math.Inf(-1)},
		{dec("5.00"), dec("6")},
		{dec("5E2"), dec("501")},
		{dec("0.1"), dec("0.1000000000000000000000000000000001")},
		{uuid(9), uuid(10)},
		{uuid(255), bson.Binary{Subtype: 4, Data: []byte{14: 1, 15: 0}}},
		{bson.Binary{Data: []byte{255}}, nil},
		{bson.Binary{Subtype: 2, Data: []byte{1}}, nil},
		{bson.DateTime(1000), bson.DateTime(1001)},
		{bson.DateTime(math.MaxInt64), nil},
		{false, true},
		{true, bson.DateTime(math.MinInt64)},
		{bson.D{{Key: "a", Value: "x"}}, bson.D{{Key: "a", Value: "x"}, {Key: "", Value: bson.MinKey{}}}},
		{bson.Null{}, nil},
		{bson.MaxKey{}, nil},
	} {
		kind, data, err := bson.MarshalValue(tc.v)
		must.Do(t, err)
		got, ok := NextValue(bson.RawValue{Type: kind, Value: data})
		if tc.want == nil {
			if ok {
				t.Errorf("%v: got %s, want nothing", tc.v, DisplayValue(got))
			}
			continue
		}
		wantKind, wantData, err := bson.MarshalValue(tc.want)
		must.Do(t, err)
		if want := (bson.RawValue{Type: wantKind, Value: wantData}); !ok || !got.Equal(want) {
			t.Errorf("%v: got %s, want %s", tc.v, DisplayValue(got), DisplayValue(want))
		}
	}
}
