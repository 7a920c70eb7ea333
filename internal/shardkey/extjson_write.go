package shardkey

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// ExtJSON is the key document in canonical Extended JSON v2 without spaces: equal BSON
// gives equal text, and ParseExtJSON restores the BSON. Bytes that are not UTF-8 become
// U+FFFD. For the upper bound of a prefix range it has the fields of the prefix; for a
// damaged key, what could be decoded.
func (p Pattern) ExtJSON(k Key) string {
	if p.hiding != nil {
		return p.hiding.ExtJSON()
	}
	values, _, _ := p.decode(k)
	b := append(make([]byte, 0, 64), '{')
	for i, v := range values {
		b = appendJSONName(b, i, p.fields[i].Name)
		b = appendJSON(b, v.Type, v.Value)
	}
	return string(append(b, '}'))
}

// ValueExtJSON formats one value like ExtJSON; "" if the bytes are not a value of the
// type.
func ValueExtJSON(v bson.RawValue) string {
	if n, err := valueSize(v.Type, v.Value); err != nil || n != len(v.Value) {
		return ""
	}
	return string(appendJSON(nil, v.Type, v.Value))
}

func appendJSONName(b []byte, i int, name string) []byte {
	if i > 0 {
		b = append(b, ',')
	}
	return append(appendJSONString(b, name), ':')
}

// appendJSON appends a value that valueSize accepts. A malformed nested document is
// truncated; keys contain none.
func appendJSON(b []byte, t bson.Type, value []byte) []byte {
	le := binary.LittleEndian
	switch t {
	case bson.TypeNull:
		return append(b, "null"...)
	case bson.TypeBoolean:
		return strconv.AppendBool(b, value[0] == 1)
	case bson.TypeString:
		return appendJSONString(b, string(text(value)))
	case bson.TypeEmbeddedDocument:
		return appendJSONDocument(b, value)
	case bson.TypeArray:
		return appendJSONArray(b, value)
	case bson.TypeMinKey:
		return append(b, `{"$minKey":1}`...)
	case bson.TypeMaxKey:
		return append(b, `{"$maxKey":1}`...)
	case bson.TypeUndefined:
		return append(b, `{"$undefined":true}`...)
	case bson.TypeInt32:
		return appendTagged(b, "$numberInt", strconv.Itoa(int(int32(le.Uint32(value)))))
	case bson.TypeInt64:
		return appendTagged(b, "$numberLong", strconv.FormatInt(int64(le.Uint64(value)), 10))
	case bson.TypeDouble:
		return appendTagged(b, "$numberDouble", doubleText(math.Float64frombits(le.Uint64(value))))
	case bson.TypeDecimal128:
		return appendTagged(b, "$numberDecimal", decimalText(value))
	case bson.TypeObjectID:
		return appendTagged(b, "$oid", hex.EncodeToString(value))
	case bson.TypeSymbol:
		return appendTagged(b, "$symbol", string(text(value)))
	case bson.TypeJavaScript:
		return appendTagged(b, "$code", string(text(value)))
	case bson.TypeDateTime:
		b = append(b, `{"$date":`...)
		return append(appendTagged(b, "$numberLong", strconv.FormatInt(int64(le.Uint64(value)), 10)), '}')
	case bson.TypeTimestamp:
		b = strconv.AppendUint(append(b, `{"$timestamp":{"t":`...), uint64(le.Uint32(value[4:])), 10)
		b = strconv.AppendUint(append(b, `,"i":`...), uint64(le.Uint32(value)), 10)
		return append(b, "}}"...)
	case bson.TypeBinary:
		subtype, data := binaryParts(value)
		b = appendJSONString(append(b, `{"$binary":{"base64":`...), base64.StdEncoding.EncodeToString(data))
		return append(appendJSONString(append(b, `,"subType":`...), hex.EncodeToString([]byte{subtype})), "}}"...)
	case bson.TypeRegex:
		pattern, options := regexParts(value)
		b = appendJSONString(append(b, `{"$regularExpression":{"pattern":`...), pattern)
		return append(appendJSONString(append(b, `,"options":`...), options), "}}"...)
	case bson.TypeDBPointer:
		at := len(value) - 12
		b = appendJSONString(append(b, `{"$dbPointer":{"$ref":`...), string(text(value[:at])))
		return append(appendTagged(append(b, `,"$id":`...), "$oid", hex.EncodeToString(value[at:])), "}}"...)
	case bson.TypeCodeWithScope:
		code, scope := splitCodeWithScope(value)
		b = appendJSONString(append(b, `{"$code":`...), string(code))
		return append(appendJSONDocument(append(b, `,"$scope":`...), scope), '}')
	}
	return append(b, "null"...)
}

func appendTagged(b []byte, tag, s string) []byte {
	b = appendJSONString(append(b, '{'), tag)
	return append(appendJSONString(append(b, ':'), s), '}')
}

func appendJSONDocument(b, doc []byte) []byte {
	b = append(b, '{')
	rest, err := elementsOf(doc)
	for i := 0; err == nil && len(rest) > 0; i++ {
		var e element
		if e, rest, err = next(rest); err != nil {
			break
		}
		b = appendJSON(appendJSONName(b, i, string(e.name)), e.typ, e.value)
	}
	return append(b, '}')
}

func appendJSONArray(b, doc []byte) []byte {
	b = append(b, '[')
	rest, err := elementsOf(doc)
	for i := 0; err == nil && len(rest) > 0; i++ {
		var e element
		if e, rest, err = next(rest); err != nil {
			break
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendJSON(b, e.typ, e.value)
	}
	return append(b, ']')
}

// appendJSONString quotes s so that it is also safe inside HTML and scripts.
func appendJSONString(b []byte, s string) []byte {
	const hexDigits = "0123456789abcdef"
	b = append(b, '"')
	plain := 0 // usually the whole string
	for plain < len(s) && s[plain] >= ' ' && s[plain] <= '~' && strings.IndexByte(`"\<>&`, s[plain]) < 0 {
		plain++
	}
	b = append(b, s[:plain]...)
	for _, r := range s[plain:] {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\r':
			b = append(b, `\r`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r < 0x20 || r == 0x7f || r == '<' || r == '>' || r == '&' || r == '\u2028' || r == '\u2029':
			b = append(b, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return append(b, '"')
}
