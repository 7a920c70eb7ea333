package expr

import (
	"encoding/hex"
	"math"
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// convert changes the type of a value that is not null.
func convert(v bson.RawValue, to bson.Type) (bson.RawValue, error) {
	if v.Type == to {
		return v, nil
	}
	switch to {
	case bson.TypeBoolean:
		switch v.Type {
		case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128, bson.TypeString, bson.TypeObjectID, bson.TypeDateTime:
			return value.Bool(Truthy(v)), nil
		}
	case bson.TypeString:
		if v.Type == bson.TypeTimestamp || v.Type == bson.TypeSymbol || v.Type == bson.TypeJavaScript {
			break
		}
		if s, ok := plainText(v); ok {
			return value.String(s), nil
		}
	case bson.TypeObjectID:
		if v.Type == bson.TypeString {
			return objectID(str(v))
		}
	case bson.TypeDateTime:
		return convertDate(v)
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return convertNumber(v, to)
	}
	return missing(), unsupported(v, to)
}

func unsupported(v bson.RawValue, to bson.Type) error {
	return status.Errorf(status.ConversionFailure,
		"Unsupported conversion from %s to %s in $convert with no onError value", TypeName(v), TypeName(bson.RawValue{Type: to}))
}

func objectID(s string) (bson.RawValue, error) {
	if len(s) != 24 {
		return missing(), status.Errorf(status.ConversionFailure, "Failed to parse objectId '%s' in $convert with no "+
			"onError value: Invalid string length for parsing to OID, expected 24 but found %d", s, len(s))
	}
	b, err := hex.DecodeString(s)
	if err != nil {
		return missing(), status.Errorf(status.ConversionFailure,
			"Failed to parse objectId '%s' in $convert with no onError value: Invalid character found in hex string", s)
	}
	return bson.RawValue{Type: bson.TypeObjectID, Value: b}, nil
}

func convertDate(v bson.RawValue) (bson.RawValue, error) {
	switch v.Type {
	case bson.TypeString:
		t, err := parseDate(str(v))
		if err != nil {
			return missing(), err
		}
		return dateValue(t.UnixMilli()), nil
	case bson.TypeObjectID:
		return dateValue(v.ObjectID().Timestamp().UnixMilli()), nil
	case bson.TypeTimestamp:
		t, _ := v.Timestamp()
		return dateValue(int64(t) * 1000), nil
	case bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		n, _ := number(v)
		ms, ok := roundTo(n, 0, towardZero).exactInt()
		if !ok {
			return missing(), overflow(v)
		}
		return dateValue(ms), nil
	}
	return missing(), unsupported(v, bson.TypeDateTime)
}

func overflow(v bson.RawValue) error {
	return status.Errorf(status.ConversionFailure, "Conversion would overflow target type in $convert with no onError value: %s", Text(v))
}

func convertNumber(v bson.RawValue, to bson.Type) (bson.RawValue, error) {
	switch v.Type {
	case bson.TypeString:
		return parseNumber(str(v), to)
	case bson.TypeBoolean:
		return narrow(num{kind: kindInt, i: int64(v.Value[0])}, v, to)
	case bson.TypeDateTime:
		if to == bson.TypeInt32 {
			break
		}
		return narrow(longNum(millis(v)), v, to)
	}
	n, ok := number(v)
	if !ok {
		return missing(), unsupported(v, to)
	}
	return narrow(n, v, to)
}

// narrow writes a number as another numeric type; fractions are cut.
func narrow(n num, v bson.RawValue, to bson.Type) (bson.RawValue, error) {
	switch to {
	case bson.TypeDouble:
		return value.Double(n.float()), nil
	case bson.TypeDecimal128:
		return num{kind: kindDecimal, d: n.decimal()}.value(), nil
	}
	if f := n.float(); math.IsNaN(f) {
		return missing(), status.Errorf(status.ConversionFailure,
			"Attempt to convert NaN value to integer type in $convert with no onError value")
	} else if math.IsInf(f, 0) {
		return missing(), status.Errorf(status.ConversionFailure,
			"Attempt to convert infinity value to integer type in $convert with no onError value")
	}
	i, ok := roundTo(n, 0, towardZero).exactInt()
	if !ok || to == bson.TypeInt32 && i != int64(int32(i)) {
		return missing(), overflow(v)
	}
	if to == bson.TypeInt32 {
		return value.Int32(int32(i)), nil
	}
	return value.Int64(i), nil
}

func parseNumber(s string, to bson.Type) (bson.RawValue, error) {
	failed := func(why string) error {
		return status.Errorf(status.ConversionFailure, "Failed to parse number '%s' in $convert with no onError value: %s", s, why)
	}
	switch to {
	case bson.TypeDouble:
		f, err := strconv.ParseFloat(s, 64)
		if err != nil && !math.IsInf(f, 0) {
			return missing(), failed("Did not consume whole string.")
		}
		if err != nil {
			return missing(), failed("Out of range")
		}
		return value.Double(f), nil
	case bson.TypeDecimal128:
		d, err := bson.ParseDecimal128(s)
		if err != nil {
			return missing(), failed("Failed to parse string to decimal")
		}
		return value.Decimal(d), nil
	}
	bits := 64
	if to == bson.TypeInt32 {
		bits = 32
	}
	i, err := strconv.ParseInt(s, 10, bits)
	switch {
	case err == nil && bits == 32:
		return value.Int32(int32(i)), nil
	case err == nil:
		return value.Int64(i), nil
	case s == "":
		return missing(), failed("No digits")
	case err.(*strconv.NumError).Err == strconv.ErrRange:
		return missing(), failed("Overflow")
	case s[0] != '-' && s[0] != '+' && (s[0] < '0' || s[0] > '9'):
		return missing(), failed("Did not consume any digits")
	}
	return missing(), failed("Did not consume whole string.")
}
