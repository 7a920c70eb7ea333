package shardkey

import (
	"encoding/binary"
	"math"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Text formats of single values, shared by Extended JSON and Display.

// doubleText is the shortest text that parses to the same double, always with a point
// or an exponent: 1.0, -0.0, 1E+40, NaN, -Infinity.
func doubleText(f float64) string {
	switch {
	case f != f:
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	}
	if m := math.Abs(f); m != 0 && (m < 1e-5 || m >= 1e15) {
		return strconv.FormatFloat(f, 'E', -1, 64)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if f == math.Trunc(f) {
		s += ".0"
	}
	return s
}

func decimalText(value []byte) string {
	le := binary.LittleEndian
	return bson.NewDecimal128(le.Uint64(value[8:]), le.Uint64(value)).String()
}

// binaryParts returns subtype and data. Old binary (subtype 2) repeats its length
// before the data, which Extended JSON leaves out.
func binaryParts(value []byte) (subtype byte, data []byte) {
	subtype, data = value[4], value[5:]
	if subtype == bson.TypeBinaryBinaryOld && len(data) >= 4 && uint64(binary.LittleEndian.Uint32(data)) == uint64(len(data)-4) {
		data = data[4:]
	}
	return subtype, data
}

func regexParts(value []byte) (pattern, options string) {
	at := 0
	for value[at] != 0 {
		at++
	}
	return string(value[:at]), string(value[at+1 : len(value)-1])
}

// dateText is RFC 3339 with milliseconds; ok is false outside of the years 0 to 9999,
// which the format cannot represent.
func dateText(ms int64) (s string, ok bool) {
	t := time.UnixMilli(ms).UTC()
	if ms < -62167219200000 || ms > 253402300799999 {
		return "", false
	}
	return t.Format("2006-01-02T15:04:05.000Z"), true
}
