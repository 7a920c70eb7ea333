package shardkey

import (
	"encoding/binary"
	"math/bits"
	"strconv"
)

// Decimal128 in the binary integer (BID) form that BSON uses: a sign, a 14-bit
// exponent and a 113-bit coefficient.

const (
	decimalBias   = 6176
	decimalDigits = 34
	greatestPower = 6111
	tenTo19       = 1e19

	decimalInf = 0x7800000000000000
	decimalNaN = 0x7c00000000000000
	signBit    = 1 << 63

	// 10^34 - 1, the largest coefficient. Larger ones count as zero, as in IEEE 754 and
	// the server's library.
	greatestHigh = 0x0001ed09bead87c0
	greatestLow  = 0x378d8e63ffffffff
)

// splitDecimal128 decodes a finite Decimal128. power is the decimal exponent without
// bias; canonical is false for a coefficient that is out of range, whose value is zero.
func splitDecimal128(buf []byte, hi, lo uint64) (d decimal, power int, canonical bool) {
	neg := hi&signBit != 0
	if hi>>61&3 == 3 { // the encoding of coefficients above 2^113, which are all out of range
		return decimal{neg: neg}, int(hi>>47&0x3fff) - decimalBias, false
	}
	power = int(hi>>49&0x3fff) - decimalBias
	hi &= 1<<49 - 1
	if hi > greatestHigh || hi == greatestHigh && lo > greatestLow {
		return decimal{neg: neg}, power, false
	}
	q, r := bits.Div64(hi, lo, tenTo19)
	s := strconv.AppendUint(buf, q, 10)
	var low [20]byte
	t := strconv.AppendUint(low[:0], r, 10)
	for range 19 - len(t) {
		s = append(s, '0')
	}
	return makeDecimal(neg, append(s, t...), power), power, true
}

// joinDecimal128 encodes d with this decimal exponent; ok is false if that is not
// possible.
func joinDecimal128(d decimal, power int) (hi, lo uint64, ok bool) {
	if power < -decimalBias || power > greatestPower {
		return 0, 0, false
	}
	size := 0 // digits of the coefficient
	if len(d.digits) > 0 {
		size = d.exp - power
		if size < len(d.digits) || size > decimalDigits {
			return 0, 0, false
		}
	}
	for i := range size {
		over, low := bits.Mul64(lo, 10)
		var carry uint64
		lo, carry = bits.Add64(low, d.digit(i), 0)
		hi = hi*10 + over + carry
	}
	hi |= uint64(power+decimalBias) << 49
	if d.neg {
		hi |= signBit
	}
	return hi, lo, true
}

func appendDecimal128(enc, tb []byte, hi, lo uint64) ([]byte, []byte) {
	special := hi &^ signBit
	switch hi >> 58 & 0x1f {
	case 0x1f:
		enc = append(enc, classNaN)
		if hi == decimalNaN && lo == 0 {
			return enc, append(tb, bitsDecimal, 0, 0)
		}
		return enc, appendRawDecimal(tb, hi, lo)
	case 0x1e:
		if hi&signBit == 0 {
			enc = append(enc, classInf)
		} else {
			enc = append(enc, classNegInf)
		}
		if special == decimalInf && lo == 0 {
			return enc, append(tb, bitsDecimal, 0, 0)
		}
		return enc, appendRawDecimal(tb, hi, lo)
	}
	var buf [2 * decimalDigits]byte
	d, power, canonical := splitDecimal128(buf[:0], hi, lo)
	if !canonical || power > greatestPower {
		return appendDecimal(enc, d), appendRawDecimal(tb, hi, lo)
	}
	token := byte(bitsDecimal)
	if len(d.digits) == 0 && d.neg {
		token = bitsNegDecimal
	}
	tb = binary.BigEndian.AppendUint16(append(tb, token), uint16(power+decimalBias))
	return appendDecimal(enc, d), tb
}

func appendRawDecimal(tb []byte, hi, lo uint64) []byte {
	tb = binary.BigEndian.AppendUint64(append(tb, bitsRawDecimal), hi)
	return binary.BigEndian.AppendUint64(tb, lo)
}
