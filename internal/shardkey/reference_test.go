package shardkey

import (
	"bytes"
	"cmp"
	"math"
	"math/big"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// A second, simple and slow comparison, with numbers as fractions. It shares only the
// driver's types with the encoding.

var typeOrder = [][]bson.Type{
	{bson.TypeMinKey}, {bson.TypeUndefined}, {bson.TypeNull},
	{bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128},
	{bson.TypeString, bson.TypeSymbol}, {bson.TypeEmbeddedDocument}, {bson.TypeArray}, {bson.TypeBinary},
	{bson.TypeObjectID}, {bson.TypeBoolean}, {bson.TypeDateTime}, {bson.TypeTimestamp}, {bson.TypeRegex},
	{bson.TypeDBPointer}, {bson.TypeJavaScript}, {bson.TypeCodeWithScope}, {bson.TypeMaxKey},
}

func rank(t bson.Type) int {
	for i, types := range typeOrder {
		for _, o := range types {
			if t == o {
				return i
			}
		}
	}
	panic(t)
}

func referenceCompare(a, b bson.RawValue) int {
	if c := cmp.Compare(rank(a.Type), rank(b.Type)); c != 0 {
		return c
	}
	switch typeOrder[rank(a.Type)][0] {
	case bson.TypeInt32:
		return compareNumbers(a, b)
	case bson.TypeString, bson.TypeJavaScript:
		return strings.Compare(stringIn(a), stringIn(b))
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		return compareDocuments(bson.Raw(a.Value), bson.Raw(b.Value))
	case bson.TypeBinary:
		if c := cmp.Compare(len(a.Value), len(b.Value)); c != 0 {
			return c
		}
		return bytes.Compare(a.Value[4:], b.Value[4:])
	case bson.TypeDateTime:
		return cmp.Compare(a.DateTime(), b.DateTime())
	case bson.TypeTimestamp:
		at, ai := a.Timestamp()
		bt, bi := b.Timestamp()
		return cmp.Or(cmp.Compare(at, bt), cmp.Compare(ai, bi))
	case bson.TypeRegex:
		ap, ao := a.Regex()
		bp, bo := b.Regex()
		return cmp.Or(strings.Compare(ap, bp), strings.Compare(ao, bo))
	case bson.TypeDBPointer:
		if c := cmp.Compare(len(a.Value), len(b.Value)); c != 0 {
			return c
		}
		return bytes.Compare(a.Value, b.Value)
	case bson.TypeCodeWithScope:
		ac, as := a.CodeWithScope()
		bc, bs := b.CodeWithScope()
		if c := strings.Compare(ac, bc); c != 0 {
			return c
		}
		return compareDocuments(as, bs)
	}
	return bytes.Compare(a.Value, b.Value)
}

func stringIn(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeSymbol:
		return v.Symbol()
	case bson.TypeJavaScript:
		return v.JavaScript()
	}
	return v.StringValue()
}

func compareDocuments(a, b bson.Raw) int {
	as, errA := a.Elements()
	bs, errB := b.Elements()
	if errA != nil || errB != nil {
		panic("malformed document")
	}
	for i := range min(len(as), len(bs)) {
		av, bv := as[i].Value(), bs[i].Value()
		c := cmp.Or(cmp.Compare(rank(av.Type), rank(bv.Type)), strings.Compare(as[i].Key(), bs[i].Key()))
		if c == 0 {
			c = referenceCompare(av, bv)
		}
		if c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func compareNumbers(a, b bson.RawValue) int {
	aRank, aRat := number(a)
	bRank, bRat := number(b)
	if c := cmp.Compare(aRank, bRank); c != 0 || aRat == nil {
		return c
	}
	return aRat.Cmp(bRat)
}

// number returns 0 for NaN, 1 for -∞, 2 and the value for a finite number, 3 for +∞.
func number(v bson.RawValue) (int, *big.Rat) {
	switch v.Type {
	case bson.TypeInt32:
		return 2, new(big.Rat).SetInt64(int64(v.Int32()))
	case bson.TypeInt64:
		return 2, new(big.Rat).SetInt64(v.Int64())
	case bson.TypeDouble:
		switch f := v.Double(); {
		case math.IsNaN(f):
			return 0, nil
		case math.IsInf(f, 0):
			return 2 + int(math.Copysign(1, f)), nil
		default:
			return 2, new(big.Rat).SetFloat64(f)
		}
	}
	d := v.Decimal128()
	if d.IsNaN() {
		return 0, nil
	}
	if sign := d.IsInf(); sign != 0 {
		return 2 + sign, nil
	}
	if hi, _ := d.GetBytes(); hi>>61&3 == 3 {
		return 2, new(big.Rat)
	}
	coefficient, exp, err := d.BigInt()
	if err != nil {
		panic(err)
	}
	if len(new(big.Int).Abs(coefficient).String()) > 34 {
		return 2, new(big.Rat)
	}
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(exp, -exp))), nil)
	if exp < 0 {
		return 2, new(big.Rat).SetFrac(coefficient, power)
	}
	return 2, new(big.Rat).SetInt(power.Mul(power, coefficient))
}
