package shardkey

import (
	"encoding/binary"
	"math"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// hashedInt64 is the int64 that is hashed for a number; ok is false for NaN, which is
// hashed as 0.
func hashedInt64(t bson.Type, value []byte) (long int64, ok bool) {
	le := binary.LittleEndian
	switch t {
	case bson.TypeInt32:
		return int64(int32(le.Uint32(value))), true
	case bson.TypeInt64:
		return int64(le.Uint64(value)), true
	case bson.TypeDouble:
		return hashedDouble(math.Float64frombits(le.Uint64(value)))
	case bson.TypeDecimal128:
		return hashedDecimal128(le.Uint64(value[8:]), le.Uint64(value))
	}
	return 0, false
}

// hashedDouble truncates. Exactly 2^63 becomes the least int64: the server
// compares with float64(MaxInt64), which is 2^63 itself, and then converts.
func hashedDouble(f float64) (int64, bool) {
	switch {
	case f != f:
		return 0, false
	case f == 1<<63:
		return math.MinInt64, true
	case f > 1<<63:
		return math.MaxInt64, true
	case f < -1<<63:
		return math.MinInt64, true
	}
	return int64(f), true
}

// hashedDecimal128 rounds half to even, unlike a double.
func hashedDecimal128(hi, lo uint64) (int64, bool) {
	neg := hi&signBit != 0
	limit := func() (int64, bool) {
		if neg {
			return math.MinInt64, true
		}
		return math.MaxInt64, true
	}
	switch hi >> 58 & 0x1f {
	case 0x1f:
		return 0, false
	case 0x1e:
		return limit()
	}
	var buf [2 * decimalDigits]byte
	d, _, _ := splitDecimal128(buf[:0], hi, lo)
	if d.exp < 0 || len(d.digits) == 0 {
		return 0, true
	}
	mag, ok := d.integer()
	if !ok || mag > 1<<63 {
		return limit()
	}
	if rest := d.fraction(); len(rest) > 0 {
		half := rest[0] == '5' && len(rest) == 1
		if rest[0] >= '5' && (!half || mag&1 == 1) {
			mag++
		}
	}
	switch {
	case neg && mag <= 1<<63:
		return -int64(mag), true
	case !neg && mag < 1<<63:
		return int64(mag), true
	}
	return limit()
}
