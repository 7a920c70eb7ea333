package shardkey

import (
	"encoding/binary"
	"math"
	"math/bits"
	"strconv"
)

// Numbers of all four types have one exact order, as in the server
// (base/compare_numbers.h). The encoding after the class byte:
//
//	integer part 1 … 2^64-1:  1 to 8 bytes, big-endian; fraction digits; 00
//	below 1, or 2^64 and up:  decimal exponent, 2 bytes; digits; 00
//
// There are two digits per byte, plus one so that no pair equals the terminator,
// without trailing zeros. All bytes of a negative number are inverted. Every finite
// number has a finite decimal expansion: 34 digits for a Decimal128, 767 for the
// longest double.

const maxDigits = 767

// digitRoom is enough for the digits of any number as formatted by strconv.
const digitRoom = 800

// exponentBias makes every exponent of a number positive; Decimal128 reaches
// from 1E-6176 to 9.99…E+6144.
const exponentBias = 0x4000

// decimal is the finite number ±0.d1d2…dn × 10^exp. Digits are ASCII; the
// first and the last are not 0; zero has none. They alias a caller's buffer.
type decimal struct {
	neg    bool
	exp    int
	digits []byte
}

// makeDecimal makes a decimal from digits and a power of ten, without leading and
// trailing zeros.
func makeDecimal(neg bool, digits []byte, power int) decimal {
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	exp := len(digits) + power
	for len(digits) > 0 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	if len(digits) == 0 {
		exp = 0
	}
	return decimal{neg, exp, digits}
}

// digit is the i-th digit, 0 behind the last.
func (d decimal) digit(i int) uint64 {
	if i < len(d.digits) {
		return uint64(d.digits[i] - '0')
	}
	return 0
}

// integer is the integer part; ok is false from 2^64 on.
func (d decimal) integer() (mag uint64, ok bool) {
	if d.exp > 20 {
		return 0, false
	}
	for i := range d.exp {
		hi, lo := bits.Mul64(mag, 10)
		sum, carry := bits.Add64(lo, d.digit(i), 0)
		if hi != 0 || carry != 0 {
			return 0, false
		}
		mag = sum
	}
	return mag, true
}

// fraction is the digits after the decimal point, without leading zeros.
func (d decimal) fraction() []byte {
	return d.digits[min(max(d.exp, 0), len(d.digits)):]
}

// appendInteger appends a number without a fraction.
func appendInteger(enc []byte, neg bool, mag uint64) []byte {
	if mag == 0 {
		return append(enc, classZero)
	}
	start := len(enc)
	return sign(append(appendMagnitude(enc, mag), 0), start, neg)
}

// appendMagnitude appends the class of a positive integer part and its bytes.
func appendMagnitude(enc []byte, mag uint64) []byte {
	size := (bits.Len64(mag) + 7) / 8
	enc = append(enc, classInteger1+byte(size-1))
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], mag)
	return append(enc, b[8-size:]...)
}

// appendDecimal appends any finite number.
func appendDecimal(enc []byte, d decimal) []byte {
	if len(d.digits) == 0 {
		return append(enc, classZero)
	}
	start := len(enc)
	digits := d.digits
	mag, ok := d.integer()
	switch {
	case ok && mag > 0:
		enc = appendMagnitude(enc, mag)
		digits = d.fraction()
	case ok:
		enc = binary.BigEndian.AppendUint16(append(enc, classFraction), uint16(d.exp+exponentBias))
	default:
		enc = binary.BigEndian.AppendUint16(append(enc, classHuge), uint16(d.exp+exponentBias))
	}
	for i := 0; i < len(digits); i += 2 {
		pair := (digits[i]-'0')*10 + 1
		if i+1 < len(digits) {
			pair += digits[i+1] - '0'
		}
		enc = append(enc, pair)
	}
	return sign(append(enc, 0), start, d.neg)
}

// sign negates the encoded positive number that begins at start: the class is mirrored
// around zero, the other bytes are inverted.
func sign(enc []byte, start int, neg bool) []byte {
	if !neg {
		return enc
	}
	enc[start] = 2*classZero - enc[start]
	for i := start + 1; i < len(enc); i++ {
		enc[i] = ^enc[i]
	}
	return enc
}

// usualNaN is the NaN that needs no payload in the type bits.
const usualNaN = 0x7ff8000000000000

func appendDouble(enc, tb []byte, f float64) ([]byte, []byte) {
	switch {
	case f != f:
		enc = append(enc, classNaN)
		if b := math.Float64bits(f); b != usualNaN {
			return enc, binary.BigEndian.AppendUint64(append(tb, bitsRawDouble), b)
		}
		return enc, append(tb, bitsDouble)
	case f == 0 && math.Signbit(f):
		return append(enc, classZero), append(tb, bitsNegZero)
	case math.IsInf(f, 1):
		return append(enc, classInf), append(tb, bitsDouble)
	case math.IsInf(f, -1):
		return append(enc, classNegInf), append(tb, bitsDouble)
	}
	tb = append(tb, bitsDouble)
	if m := math.Abs(f); m < 1<<64 && m == math.Trunc(m) {
		return appendInteger(enc, f < 0, uint64(m)), tb
	}
	var buf [digitRoom]byte
	return appendDecimal(enc, decimalOfDouble(buf[:0], f)), tb
}

// decimalOfDouble is the exact decimal value of a finite double. A fraction m/2^k is
// m·5^k/10^k, so it has no more digits than m and 5^k together.
func decimalOfDouble(buf []byte, f float64) decimal {
	frac, exp2 := math.Frexp(math.Abs(f))
	k := 53 - exp2 - bits.TrailingZeros64(uint64(frac*(1<<53)))
	places := maxDigits - 1
	if k >= 0 {
		places = min(places, 17+k*7/10)
	} else {
		places = min(places, exp2/3+2)
	}
	s := strconv.AppendFloat(buf, math.Abs(f), 'e', places, 64) // d.ddde±dd
	at := 2 + places                                            // position of the e
	exp := 0
	for _, c := range s[at+2:] {
		exp = exp*10 + int(c-'0')
	}
	if s[at+1] == '-' {
		exp = -exp
	}
	s[1] = s[0] // overwrites the point
	return makeDecimal(math.Signbit(f), s[1:at], exp-places)
}
