package shardkey

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
	"pgregory.net/rapid"

	"shardboard/internal/fixture/must"
)

// Random BSON values that differ in one bit, digit or byte, because near misses find
// more errors than unrelated values.

func drawValue(t *rapid.T) bson.RawValue { return drawNested(t, 3) }

// drawComparable draws a value that the simulated cluster compares as we do. Decimals with a coefficient of
// more than 34 digits count as zero here, as in IEEE 754, and no driver writes them.
func drawComparable(t *rapid.T, depth int) bson.RawValue {
	for {
		v := drawNested(t, depth)
		if rapid.Bool().Draw(t, "number") {
			v = drawNumber(t)
		}
		if !hasUnusualDecimal(v) {
			return v
		}
	}
}

func drawNested(t *rapid.T, depth int) bson.RawValue {
	kinds := 17
	if depth > 0 {
		kinds = 20
	}
	le := binary.LittleEndian
	switch kind := rapid.IntRange(0, kinds-1).Draw(t, "kind"); kind {
	case 0, 1, 2, 3:
		return drawNumber(t)
	case 4:
		return bson.RawValue{Type: bson.TypeString, Value: appendString(nil, drawText(t))}
	case 5:
		return bson.RawValue{Type: bson.TypeSymbol, Value: appendString(nil, drawText(t))}
	case 6:
		return bson.RawValue{Type: bson.TypeJavaScript, Value: appendString(nil, drawText(t))}
	case 7:
		empty := []bson.Type{bson.TypeNull, bson.TypeUndefined, bson.TypeMinKey, bson.TypeMaxKey}
		return bson.RawValue{Type: rapid.SampledFrom(empty).Draw(t, "empty")}
	case 8:
		return bson.RawValue{Type: bson.TypeBoolean, Value: []byte{byte(rapid.IntRange(0, 1).Draw(t, "bool"))}}
	case 9:
		return bson.RawValue{Type: bson.TypeDateTime, Value: le.AppendUint64(nil, uint64(drawLong(t)))}
	case 10:
		return bson.RawValue{Type: bson.TypeTimestamp, Value: le.AppendUint64(nil, uint64(drawLong(t)))}
	case 11:
		return bson.RawValue{Type: bson.TypeBinary, Value: appendBinary(nil,
			rapid.SampledFrom([]byte{0, 2, 3, 4, 5, 128, 255}).Draw(t, "subtype"), []byte(drawText(t)))}
	case 12:
		id := make([]byte, 12)
		id[0], id[11] = drawByte(t), drawByte(t)
		return bson.RawValue{Type: bson.TypeObjectID, Value: id}
	case 13:
		return bson.RawValue{Type: bson.TypeRegex, Value: []byte(drawName(t) + "\x00" + drawName(t) + "\x00")}
	case 14:
		return bson.RawValue{Type: bson.TypeDBPointer, Value: append(appendString(nil, drawText(t)), "12bytes12byt"...)}
	case 15, 16:
		return bson.RawValue{Type: bson.TypeInt64, Value: le.AppendUint64(nil, uint64(drawLong(t)))}
	case 17:
		return bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: drawDocument(t, depth-1)}
	case 18:
		return bson.RawValue{Type: bson.TypeArray, Value: drawDocument(t, depth-1)}
	default:
		code, scope := appendString(nil, drawText(t)), drawDocument(t, depth-1)
		value := le.AppendUint32(nil, uint32(4+len(code)+len(scope)))
		return bson.RawValue{Type: bson.TypeCodeWithScope, Value: append(append(value, code...), scope...)}
	}
}

func drawDocument(t *rapid.T, depth int) bson.Raw {
	doc := beginDocument(nil)
	for range rapid.IntRange(0, 2).Draw(t, "elements") {
		v := drawNested(t, depth)
		doc = appendElement(doc, v.Type, drawName(t), v.Value)
	}
	return endDocument(doc, 0)
}

func drawByte(t *rapid.T) byte {
	return rapid.SampledFrom([]byte{0, 1, 'a', 'b', 0x7f, 0x80, 0xf0, 0xfe, 0xff}).Draw(t, "byte")
}

func drawText(t *rapid.T) string {
	b := make([]byte, rapid.IntRange(0, 3).Draw(t, "length"))
	for i := range b {
		b[i] = drawByte(t)
	}
	return string(b)
}

func drawName(t *rapid.T) string { return strings.ReplaceAll(drawText(t), "\x00", "c") }

// drawLong is an int64, often near a limit.
func drawLong(t *rapid.T) int64 {
	switch rapid.IntRange(0, 2).Draw(t, "long") {
	case 0:
		return rapid.Int64Range(-3, 3).Draw(t, "small")
	case 1:
		edge := int64(1) << rapid.IntRange(7, 63).Draw(t, "bit")
		return edge + rapid.Int64Range(-2, 2).Draw(t, "off")
	}
	return rapid.Int64().Draw(t, "any")
}

func drawNumber(t *rapid.T) bson.RawValue {
	le := binary.LittleEndian
	switch rapid.IntRange(0, 5).Draw(t, "number") {
	case 0:
		return bson.RawValue{Type: bson.TypeInt32, Value: le.AppendUint32(nil, uint32(drawLong(t)))}
	case 1:
		return double(float64(drawLong(t)) / float64(int64(1)<<rapid.IntRange(0, 60).Draw(t, "shift")))
	case 2:
		f := rapid.SampledFrom([]float64{0.1, 0.5, 1, 3, math.Exp2(53), math.Exp2(63), math.Exp2(64), 1e300,
			math.MaxFloat64, math.SmallestNonzeroFloat64, 2.2250738585072014e-308, math.Inf(1), math.NaN(), math.Copysign(0, -1)}).Draw(t, "edge")
		for range rapid.IntRange(0, 2).Draw(t, "up") {
			f = math.Nextafter(f, math.Inf(1))
		}
		if rapid.Bool().Draw(t, "negative") {
			f = -f
		}
		return double(f)
	case 3:
		return double(math.Float64frombits(rapid.Uint64().Draw(t, "bits")))
	case 4: // a decimal next to a double
		f := drawNumberNear(t)
		d, err := bson.ParseDecimal128(f)
		must.That(t, err == nil, "%s: %v", f, err)
		return dec(d.GetBytes())
	}
	hi := rapid.Uint64().Draw(t, "hi")
	if rapid.Bool().Draw(t, "ordinary") {
		hi = hi&(signBit|0xff) | uint64(decimalBias+rapid.IntRange(-40, 30).Draw(t, "exponent"))<<49
	}
	return dec(hi, rapid.Uint64().Draw(t, "lo"))
}

func drawNumberNear(t *rapid.T) string {
	if rapid.Bool().Draw(t, "rounded") { // the first 34 digits of a double
		f := rapid.SampledFrom([]float64{0.1, -0.1, 1 / 3.0, 1e300, math.SmallestNonzeroFloat64}).Draw(t, "double")
		return strconv.FormatFloat(f, 'e', decimalDigits-1, 64)
	}
	return rapid.SampledFrom([]string{"0", "-0", "0E+3", "1", "1.0", "1.00", "-1.0", "10E-1", "0.1", "0.10", "0.5", "-0.5",
		"0.1000000000000000055511151231257827", "0.1000000000000000055511151231257828",
		"9223372036854775807", "9223372036854775808", "9223372036854775807.5", "-9223372036854775808",
		"18446744073709551615", "18446744073709551616", "18446744073709551615.9", "9007199254740993",
		"1E+40", "1E+6144", "9.999999999999999999999999999999999E+6144", "1E-6176", "-1E-6176", "NaN", "Infinity",
		"-Infinity", "1E-324", "5E-324",
	}).Draw(t, "decimal")
}

func double(f float64) bson.RawValue {
	return bson.RawValue{Type: bson.TypeDouble, Value: binary.LittleEndian.AppendUint64(nil, math.Float64bits(f))}
}

func dec(hi, lo uint64) bson.RawValue {
	le := binary.LittleEndian
	return bson.RawValue{Type: bson.TypeDecimal128, Value: le.AppendUint64(le.AppendUint64(nil, lo), hi)}
}

// hasUnusualDecimal reports whether v is or may contain a non-canonical Decimal128: a
// coefficient above 34 digits, or a NaN or infinity with a payload.
func hasUnusualDecimal(v bson.RawValue) bool {
	switch v.Type {
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		rest, err := elementsOf(v.Value)
		for err == nil && len(rest) > 0 {
			var e element
			e, rest, err = next(rest)
			if hasUnusualDecimal(bson.RawValue{Type: e.typ, Value: e.value}) {
				return true
			}
		}
	case bson.TypeCodeWithScope:
		_, scope := splitCodeWithScope(v.Value)
		return hasUnusualDecimal(bson.RawValue{Type: bson.TypeEmbeddedDocument, Value: scope})
	case bson.TypeDecimal128:
		le := binary.LittleEndian
		_, bits := appendDecimal128(nil, nil, le.Uint64(v.Value[8:]), le.Uint64(v.Value))
		return bits[0] == bitsRawDecimal
	}
	return false
}
