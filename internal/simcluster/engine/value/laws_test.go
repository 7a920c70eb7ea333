package value_test

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
	"shardboard/internal/simcluster/engine/value"
)

// anyValue draws values that lie close together, so that equal ones and near misses are
// common.
func anyValue(depth int) *rapid.Generator[bson.RawValue] {
	return rapid.Custom(func(t *rapid.T) bson.RawValue {
		longs := rapid.SampledFrom([]int64{0, 1, -1, 2, 1 << 53, 1<<53 + 1, math.MaxInt64, math.MinInt64, math.MaxInt64 - 1})
		doubles := rapid.SampledFrom([]float64{0, math.Copysign(0, -1), 1, 1.5, -1, 1 << 53, 1 << 63, -(1 << 63),
			math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, 0.1})
		decimals := rapid.SampledFrom([]string{"0", "1", "1.0", "1.5", "-1", "0.1", "NaN", "Infinity", "-Infinity",
			"9007199254740993", "9223372036854775807", "1E-6176", "9.9E+6144", "0.1000000000000000055511151231257827"})
		texts := rapid.SampledFrom([]string{"", "a", "ab", "b", "\x00", "é"})
		kinds := 15
		if depth > 0 {
			kinds = 17
		}
		switch rapid.IntRange(0, kinds-1).Draw(t, "kind") {
		case 0:
			return value.Int32(int32(longs.Draw(t, "int")))
		case 1:
			return value.Int64(longs.Draw(t, "long"))
		case 2:
			return value.Double(doubles.Draw(t, "double"))
		case 3:
			d, err := bson.ParseDecimal128(decimals.Draw(t, "decimal"))
			must.Do(t, err)
			return decimal(d)
		case 4:
			return value.String(texts.Draw(t, "string"))
		case 5:
			return bson.RawValue{Type: bson.TypeSymbol, Value: value.String(texts.Draw(t, "symbol")).Value}
		case 6:
			return value.Null()
		case 7:
			return value.Undefined()
		case 8:
			return value.MinKey()
		case 9:
			return value.MaxKey()
		case 10:
			return value.Bool(rapid.Bool().Draw(t, "bool"))
		case 11:
			return bson.RawValue{Type: bson.TypeDateTime, Value: value.Int64(longs.Draw(t, "date")).Value}
		case 12:
			return value.Timestamp(rapid.Uint32().Draw(t, "t"), rapid.Uint32Range(0, 2).Draw(t, "i"))
		case 13:
			data := texts.Draw(t, "data")
			return bson.RawValue{Type: bson.TypeBinary, Value: append(append(value.Int32(int32(len(data))).Value,
				byte(rapid.IntRange(0, 5).Draw(t, "subtype"))), data...)}
		case 14:
			return bson.RawValue{Type: bson.TypeRegex, Value: []byte(rapid.SampledFrom([]string{"a", "ab", ""}).Draw(t, "re") + "\x00i\x00")}
		case 15:
			return value.Array(rapid.SliceOfN(anyValue(depth-1), 0, 2).Draw(t, "array")...)
		}
		b := value.NewBuilder(32)
		for _, v := range rapid.SliceOfN(anyValue(depth-1), 0, 2).Draw(t, "fields") {
			b.Append(rapid.SampledFrom([]string{"a", "b"}).Draw(t, "name"), v)
		}
		return value.Doc(b.Raw())
	})
}

func TestCompareIsATotalPreorder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyValue(2).Draw(t, "a"), anyValue(2).Draw(t, "b"), anyValue(2).Draw(t, "c")
		must.That(t, value.Compare(a, a) == 0, "not reflexive")
		ab, bc, ac := value.Compare(a, b), value.Compare(b, c), value.Compare(a, c)
		must.That(t, ab == -value.Compare(b, a), "not antisymmetric")
		must.That(t, ab > 0 || bc > 0 || ac <= 0 && (ac != 0 || ab >= 0 && bc >= 0), "not transitive")
		must.That(t, ab != 0 || bc == ac, "equal values compare differently with a third")
	})
}

func TestEqualNumbersHaveEqualHashesExceptDecimalFractions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(-1<<53, 1<<53).Draw(t, "n")
		d, err := bson.ParseDecimal128(value.Text(value.Int64(n)))
		must.Do(t, err)
		want := value.Hash(value.Int64(n))
		if value.Hash(value.Double(float64(n))) != want || value.Hash(decimal(d)) != want {
			t.Fatal("hash depends on the number's type")
		}
	})
}

func TestPathsFindNestedValues(t *testing.T) {
	var doc bson.D
	must.Do(t, bson.UnmarshalExtJSON([]byte(`{"a":{"b":[{"c":1},{"c":[2,3]},5]},"n":null}`), false, &doc))
	raw, _ := bson.Marshal(doc)
	for path, want := range map[string]string{"a.b.0.c": "1", "a.b.1.c": "[ 2, 3 ]", "a.b.2": "5", "n": "null"} {
		if v, ok := value.Lookup(raw, path); !ok || value.Text(v) != want {
			t.Errorf("%s = %s", path, value.Text(v))
		}
	}
	for _, path := range []string{"a.x", "a.b.c", "n.x", "a.b.9", "zz"} {
		if v, ok := value.Lookup(raw, path); ok {
			t.Errorf("%s found %s", path, value.Text(v))
		}
	}
	var all []bson.RawValue
	value.Walk(raw, []string{"a", "b", "c"}, true, func(v bson.RawValue) bool {
		all = append(all, v)
		return true
	})
	expect.Equal(t, value.Text(value.Array(all...)), "[ 1, 2, 3, [ 2, 3 ] ]", "all of a.b.c")
}

func decimal(d bson.Decimal128) bson.RawValue {
	v, _ := value.Of(d)
	return v
}
