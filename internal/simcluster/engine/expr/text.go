package expr

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Text writes a value the way the server's messages do: { a: 1, b: "x" }.
func Text(v bson.RawValue) string {
	if v.Type == 0 {
		return "missing"
	}
	return value.Text(v)
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
