package expr

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Text writes a value the way the server's messages do: { a: 1, b: "x" }.
func Text(v bson.RawValue) string {
	var b strings.Builder
	writeText(&b, v)
	return b.String()
}

func writeText(b *strings.Builder, v bson.RawValue) {
	switch v.Type {
	case 0:
		b.WriteString("missing")
	case bson.TypeString, bson.TypeSymbol:
		b.WriteString(`"` + str(v) + `"`)
	case bson.TypeEmbeddedDocument:
		sep := "{ "
		for k, e := range fields(v.Value) {
			b.WriteString(sep)
			b.Write(k)
			b.WriteString(": ")
			writeText(b, e)
			sep = ", "
		}
		if sep == "{ " {
			b.WriteString("{}")
			return
		}
		b.WriteString(" }")
	case bson.TypeArray:
		sep := "[ "
		for e := range items(v.Value) {
			b.WriteString(sep)
			writeText(b, e)
			sep = ", "
		}
		if sep == "[ " {
			b.WriteString("[]")
			return
		}
		b.WriteString(" ]")
	case bson.TypeObjectID:
		b.WriteString("ObjectId('" + hex.EncodeToString(v.Value) + "')")
	case bson.TypeBinary:
		sub, data := v.Binary()
		if sub == 4 && len(data) == 16 {
			fmt.Fprintf(b, `UUID("%x-%x-%x-%x-%x")`, data[:4], data[4:6], data[6:8], data[8:10], data[10:])
			return
		}
		fmt.Fprintf(b, "BinData(%d, %X)", sub, data)
	case bson.TypeDateTime:
		fmt.Fprintf(b, "new Date(%d)", millis(v))
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		fmt.Fprintf(b, "Timestamp(%d, %d)", t, i)
	case bson.TypeRegex:
		p, o := v.Regex()
		b.WriteString("/" + p + "/" + o)
	case bson.TypeNull:
		b.WriteString("null")
	case bson.TypeUndefined:
		b.WriteString("undefined")
	case bson.TypeMinKey:
		b.WriteString("MinKey")
	case bson.TypeMaxKey:
		b.WriteString("MaxKey")
	case bson.TypeDouble:
		b.WriteString(doubleText(v.Double()))
		if f := v.Double(); f == math.Trunc(f) && math.Abs(f) < 1e15 {
			b.WriteString(".0")
		}
	case bson.TypeJavaScript:
		b.WriteString(str(v))
	default:
		s, _ := plainText(v)
		b.WriteString(s)
	}
}

// doubleText is a double as $toString writes it: up to 16 digits, no ".0".
func doubleText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	return strconv.FormatFloat(f, 'g', 16, 64)
}

// plainText is the value as a string where strings are expected; false for the
// types that have none.
func plainText(v bson.RawValue) (string, bool) {
	switch v.Type {
	case bson.TypeString, bson.TypeSymbol, bson.TypeJavaScript:
		return str(v), true
	case bson.TypeInt32:
		return strconv.Itoa(int(v.Int32())), true
	case bson.TypeInt64:
		return strconv.FormatInt(v.Int64(), 10), true
	case bson.TypeDouble:
		return doubleText(v.Double()), true
	case bson.TypeDecimal128:
		return v.Decimal128().String(), true
	case bson.TypeDateTime:
		return isoText(millis(v)), true
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		return fmt.Sprintf("Timestamp(%d, %d)", t, i), true
	case bson.TypeObjectID:
		return hex.EncodeToString(v.Value), true
	case bson.TypeBoolean:
		return strconv.FormatBool(v.Value[0] != 0), true
	}
	return "", false
}

func isoText(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("2006-01-02T15:04:05.000Z")
}
