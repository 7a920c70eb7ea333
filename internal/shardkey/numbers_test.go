package shardkey

import (
	"math"
	"testing"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fixture/expect"
	"shardboard/internal/fixture/must"
)

func decimalOf(s string) bson.Decimal128 { return must.Get(bson.ParseDecimal128(s)) }

// Values of one line are equal and less than those of the next line.
func TestNumbersOfAllTypesCompareExactly(t *testing.T) {
	d := decimalOf
	ladder := [][]any{
		{math.NaN(), d("NaN"), d("-NaN"), math.Float64frombits(0x7ff8000000000001)},
		{math.Inf(-1), d("-Infinity")},
		{d("-9.999999999999999999999999999999999E+6144")},
		{-math.MaxFloat64},
		{d("-18446744073709551616"), -math.Exp2(64)},
		{d("-18446744073709551615.5")},
		{d("-18446744073709551615")},
		{d("-9223372036854775809")},
		{int64(math.MinInt64), -math.Exp2(63), d("-9223372036854775808"), d("-9.223372036854775808E+18")},
		{d("-9223372036854775807.5")},
		{int64(math.MinInt64 + 1)},
		{int64(-9007199254740993)},
		{int64(-9007199254740992), -math.Exp2(53)},
		{-256.5, d("-256.50")},
		{int32(-256), int64(-256)},
		{int32(-255), d("-255")},
		{-1.0, int32(-1), d("-1.00")},
		{d("-0.1000000000000000055511151231257828")},
		{-0.1},
		{d("-0.1000000000000000055511151231257827")},
		{d("-0.1")},
		{-math.SmallestNonzeroFloat64},
		{d("-1E-6176")},
		{int32(0), int64(0), 0.0, math.Copysign(0, -1), d("0"), d("-0"), d("0E+6111"), d("-0.00"),
			bson.NewDecimal128(0x6000000000000000, 7), bson.NewDecimal128(greatestHigh|1<<49, greatestLow+1)},
		{d("1E-6176"), d("0.1E-6175")},
		{math.SmallestNonzeroFloat64},
		{d("5E-324")},
		{d("0.1")},
		{d("0.1000000000000000055511151231257827")},
		{0.1},
		{d("0.1000000000000000055511151231257828")},
		{1 / 3.0},
		{d("0.3333333333333333333333333333333333")},
		{0.5, d("0.5"), d("0.500")},
		{math.Nextafter(1, 0)},
		{1.0, int32(1), int64(1), d("1"), d("1.0"), d("10E-1")},
		{math.Nextafter(1, 2)},
		{d("1.5"), 1.5},
		{int32(255)},
		{255.5},
		{int32(256)},
		{int64(9007199254740992), math.Exp2(53)},
		{int64(9007199254740993), d("9007199254740993")},
		{int64(math.MaxInt64), d("9223372036854775807")},
		{d("9223372036854775807.5")},
		{math.Exp2(63), d("9223372036854775808")},
		{d("18446744073709551615")},
		{d("18446744073709551615.01")},
		{math.Exp2(64), d("18446744073709551616")},
		{d("99999999999999999999")},
		{d("1E+20"), 1e20},
		{d("9.999999999999999161136111842830778E+39")},
		{d("1E+40")},
		{1e40},
		{math.MaxFloat64},
		{d("1E+6144")},
		{math.Inf(1), d("Infinity")},
	}
	p := mustPattern("v")
	var before Key
	for i, line := range ladder {
		for j, v := range line {
			raw := rawValue(v)
			k := must.Get(p.KeyOf(raw))
			back, err := p.Values(k)
			expect.That(t, err == nil && back[0].Equal(raw), "%s came back as %v, %v", raw, back, err)
			switch c := before.Compare(k); {
			case j > 0 && c != 0:
				t.Errorf("line %d: %s is not equal to %v", i, raw, line[j-1])
			case j == 0 && c >= 0:
				t.Errorf("line %d: %s is not greater than the line before", i, raw)
			}
			before = k
		}
	}
}
