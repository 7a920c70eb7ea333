package shardkey

import (
	"bytes"
	"encoding/binary"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// number decodes a number with its type bits and encodes it again: if the bytes differ,
// the input was not produced by this package.
func (d *decoder) number(dst []byte, class byte) (bson.Type, []byte, error) {
	var digits [digitRoom]byte
	before, bits := d.enc, d.bits
	num, err := d.decimal(digits[:0], class)
	if err != nil {
		return 0, nil, err
	}
	used := before[:len(before)-len(d.enc)]
	start := len(dst)
	t, dst, err := d.typed(dst, class, num)
	if err != nil {
		return 0, nil, err
	}
	var room [digitRoom]byte
	var tokens [32]byte
	enc, tb, err := appendValue(room[:0], tokens[:0], t, dst[start:], 0)
	if err != nil || enc[0] != class || string(enc[1:]) != used || !sameBits(tb, bits[:len(bits)-len(d.bits)]) {
		return 0, nil, errEncoding
	}
	return t, dst, nil
}

// sameBits compares written type bits with those read, which may lack trailing zeros.
func sameBits(written []byte, read string) bool {
	return len(read) <= len(written) && string(written[:len(read)]) == read && len(bytes.Trim(written[len(read):], "\x00")) == 0
}

// decimal reads the rest of a number whose class byte has been read. NaN and the
// infinities have no rest and return zero.
func (d *decoder) decimal(s []byte, class byte) (num decimal, err error) {
	var flip byte
	neg := class < classZero
	if neg {
		flip, class = 0xff, 2*classZero-class
	}
	switch {
	case class >= classInteger1 && class <= classInteger8:
		mag := uint64(0)
		for range int(class-classInteger1) + 1 {
			b, err := d.byte()
			if err != nil {
				return num, err
			}
			mag = mag<<8 | uint64(b^flip)
		}
		s = strconv.AppendUint(s, mag, 10)
		whole := len(s)
		if s, err = d.digits(s, flip); err != nil {
			return num, err
		}
		return makeDecimal(neg, s, whole-len(s)), nil
	case class == classFraction, class == classHuge:
		if len(d.enc) < 2 {
			return num, errEncoding
		}
		exp := int(d.enc[0]^flip)<<8 | int(d.enc[1]^flip) - exponentBias
		d.enc = d.enc[2:]
		if s, err = d.digits(s, flip); err != nil {
			return num, err
		}
		return makeDecimal(neg, s, exp-len(s)), nil
	}
	return num, nil
}

// digits appends the pairs of digits up to the terminator.
func (d *decoder) digits(s []byte, flip byte) ([]byte, error) {
	for {
		b, err := d.byte()
		if err != nil {
			return nil, err
		}
		switch b ^= flip; {
		case b == 0:
			return s, nil
		case b > 100 || len(s) > maxDigits:
			return nil, errEncoding
		}
		s = append(s, (b-1)/10+'0', (b-1)%10+'0')
	}
}

// typed appends the number in the type given by the type bits.
func (d *decoder) typed(dst []byte, class byte, num decimal) (bson.Type, []byte, error) {
	le := binary.LittleEndian
	switch token := d.token(); token {
	case bitsInt64, bitsInt32:
		mag, ok := num.integer()
		if !ok || len(num.fraction()) > 0 {
			return 0, nil, errEncoding
		}
		v := int64(mag)
		if num.neg {
			v = -v
		}
		if token == bitsInt64 {
			return bson.TypeInt64, le.AppendUint64(dst, uint64(v)), nil
		}
		return bson.TypeInt32, le.AppendUint32(dst, uint32(v)), nil
	case bitsDouble:
		return bson.TypeDouble, le.AppendUint64(dst, math.Float64bits(doubleOf(class, num))), nil
	case bitsNegZero:
		return bson.TypeDouble, le.AppendUint64(dst, 1<<63), nil
	case bitsRawDouble:
		return bson.TypeDouble, le.AppendUint64(dst, d.payload()), nil
	case bitsRawDecimal:
		hi, lo := d.payload(), d.payload()
		return bson.TypeDecimal128, le.AppendUint64(le.AppendUint64(dst, lo), hi), nil
	case bitsDecimal, bitsNegDecimal:
		power := int(d.token()) << 8
		power |= int(d.token())
		hi, lo, ok := uint64(0), uint64(0), true
		switch class {
		case classNaN:
			hi = decimalNaN
		case classInf:
			hi = decimalInf
		case classNegInf:
			hi = decimalInf | signBit
		default:
			num.neg = num.neg || token == bitsNegDecimal
			hi, lo, ok = joinDecimal128(num, power-decimalBias)
		}
		if !ok {
			return 0, nil, errEncoding
		}
		return bson.TypeDecimal128, le.AppendUint64(le.AppendUint64(dst, lo), hi), nil
	}
	return 0, nil, errEncoding
}

// doubleOf is the double nearest to num, which is the encoded one.
func doubleOf(class byte, num decimal) float64 {
	switch class {
	case classNaN:
		return math.Float64frombits(usualNaN)
	case classInf:
		return math.Inf(1)
	case classNegInf:
		return math.Inf(-1)
	}
	var buf [digitRoom + 16]byte
	s := append(buf[:0], "0."...)
	s = append(s, num.digits...)
	s = append(s, '0', 'e')
	s = strconv.AppendInt(s, int64(num.exp), 10)
	f, _ := strconv.ParseFloat(string(s), 64) // out of range: ±Inf, which has another class
	if num.neg {
		return -f
	}
	return f
}
