package shardkey

import (
	"encoding/binary"
	"math"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
)

// The contents of Extended JSON types, and plain numbers.

// fieldsOf returns the two fields of a wrapper's inner document.
func fieldsOf(e element, first, second string) (f [2]element, ok bool) {
	if e.typ != bson.TypeEmbeddedDocument {
		return f, false
	}
	rest, err := elementsOf(e.value)
	for n := 0; err == nil && n < 2 && len(rest) > 0; n++ {
		f[n], rest, err = next(rest)
	}
	ok = err == nil && len(rest) == 0 && shape(f[:], first, second)
	return f, ok
}

func stringOf(e element) (string, bool) {
	if e.typ != bson.TypeString {
		return "", false
	}
	return string(text(e.value)), true
}

func uint32Of(e element) (uint32, bool) {
	if e.typ != bson.TypeInt32 && e.typ != bson.TypeInt64 {
		return 0, false
	}
	v, _ := hashedInt64(e.typ, e.value)
	return uint32(v), v >= 0 && v <= math.MaxUint32
}

// dateOf reads {"$numberLong": ms} and, relaxed, an RFC 3339 text.
func dateOf(e element) (ms int64, ok bool) {
	if e.typ == bson.TypeInt64 || e.typ == bson.TypeInt32 {
		return hashedInt64(e.typ, e.value)
	}
	s, ok := stringOf(e)
	if !ok {
		return 0, false
	}
	t, err := time.Parse(time.RFC3339Nano, s)
	return t.UnixMilli(), err == nil
}

func parseDouble(s string) (float64, bool) {
	switch s {
	case "NaN":
		return math.Float64frombits(usualNaN), true
	case "Infinity":
		return math.Inf(1), true
	case "-Infinity":
		return math.Inf(-1), true
	}
	if s == "" || strings.Trim(s, "0123456789+-.eE") != "" {
		return 0, false
	}
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil
}

func appendRelaxed(dst []byte, s string) (bson.Type, []byte, error) {
	le := binary.LittleEndian
	if v, err := strconv.ParseInt(s, 10, 64); err == nil {
		if v == int64(int32(v)) {
			return bson.TypeInt32, le.AppendUint32(dst, uint32(v)), nil
		}
		return bson.TypeInt64, le.AppendUint64(dst, uint64(v)), nil
	}
	f, ok := parseDouble(s)
	if !ok {
		return 0, nil, fault.New(fault.Invalid, "The number %.40s is out of the range of a double.", s)
	}
	return bson.TypeDouble, le.AppendUint64(dst, math.Float64bits(f)), nil
}

func appendString(dst []byte, s string) []byte {
	dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s)+1))
	return append(append(dst, s...), 0)
}

func appendBinary(dst []byte, subtype byte, data []byte) []byte {
	le := binary.LittleEndian
	if subtype == bson.TypeBinaryBinaryOld {
		dst = append(le.AppendUint32(dst, uint32(len(data)+4)), subtype)
		return append(le.AppendUint32(dst, uint32(len(data))), data...)
	}
	return append(append(le.AppendUint32(dst, uint32(len(data))), subtype), data...)
}
