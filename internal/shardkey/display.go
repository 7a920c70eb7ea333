package shardkey

import (
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	// shownString is how many bytes of a string or of binary data are shown; the middle of
	// longer ones is left out.
	shownString = 96
	// shownValue is the number of bytes after which a document in a key is truncated.
	shownValue = 512
)

// Display is a short text in mongosh syntax: {project_id: ObjectId("…"), _id:
// NumberLong("123")}, MinKey and MaxKey. The middle of long strings and the end of long
// documents are left out (…), and non-printable characters are escaped; ExtJSON is
// complete. The upper bound of a prefix range shows the prefix: {project_id:
// ObjectId("…"), …}.
func (p Pattern) Display(k Key) string {
	if k.IsZero() {
		return ""
	}
	if p.hiding != nil {
		return p.hiding.Text
	}
	values, rest, err := p.decode(k)
	var b strings.Builder
	b.WriteByte('{')
	for i, v := range values {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(displayName(p.fields[i].Name))
		b.WriteString(": ")
		b.WriteString(displayValue(v.Type, v.Value, shownValue))
	}
	if err != nil || rest.enc != "" || len(values) < len(p.fields) {
		if len(values) > 0 {
			b.WriteString(", ")
		}
		b.WriteString("…")
	}
	b.WriteByte('}')
	return b.String()
}

// DisplayValue formats one value like Display.
func DisplayValue(v bson.RawValue) string {
	if n, err := valueSize(v.Type, v.Value); err != nil || n != len(v.Value) {
		return "…"
	}
	return displayValue(v.Type, v.Value, shownValue)
}

// PlainValue is DisplayValue without the type of ids and whole numbers, for places where the field
// is known.
func PlainValue(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeObjectID:
		return v.ObjectID().Hex()
	case bson.TypeInt64:
		return strconv.FormatInt(v.Int64(), 10)
	case bson.TypeInt32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	}
	return DisplayValue(v)
}

// PlainValues are the values of a bound without the names of its fields; (hidden) for one that
// Hiding has replaced.
func PlainValues(doc bson.Raw) string {
	if IsHidden(doc) {
		return "(hidden)"
	}
	elements, err := doc.Elements()
	if err != nil {
		return ""
	}
	out := make([]string, len(elements))
	for i, e := range elements {
		out[i] = PlainValue(e.Value())
	}
	return strings.Join(out, ", ")
}

func displayValue(t bson.Type, value []byte, room int) string {
	le := binary.LittleEndian
	switch t {
	case bson.TypeNull:
		return "null"
	case bson.TypeUndefined:
		return "undefined"
	case bson.TypeMinKey:
		return "MinKey"
	case bson.TypeMaxKey:
		return "MaxKey"
	case bson.TypeBoolean:
		return strconv.FormatBool(value[0] == 1)
	case bson.TypeInt32:
		return strconv.Itoa(int(int32(le.Uint32(value))))
	case bson.TypeInt64:
		return fmt.Sprintf(`NumberLong("%d")`, int64(le.Uint64(value)))
	case bson.TypeDouble:
		return doubleText(math.Float64frombits(le.Uint64(value)))
	case bson.TypeDecimal128:
		return fmt.Sprintf(`NumberDecimal("%s")`, decimalText(value))
	case bson.TypeObjectID:
		return fmt.Sprintf(`ObjectId("%x")`, value)
	case bson.TypeString:
		return quote(string(text(value)))
	case bson.TypeSymbol:
		return "Symbol(" + quote(string(text(value))) + ")"
	case bson.TypeJavaScript:
		return "Code(" + quote(string(text(value))) + ")"
	case bson.TypeDateTime:
		ms := int64(le.Uint64(value))
		if s, ok := dateText(ms); ok {
			return `ISODate("` + s + `")`
		}
		return fmt.Sprintf("Date(%d)", ms)
	case bson.TypeTimestamp:
		return fmt.Sprintf("Timestamp(%d, %d)", le.Uint32(value[4:]), le.Uint32(value))
	case bson.TypeBinary:
		return displayBinary(value)
	case bson.TypeRegex:
		pattern, options := regexParts(value)
		return "RegExp(" + quote(pattern) + ", " + quote(options) + ")"
	case bson.TypeDBPointer:
		at := len(value) - 12
		return fmt.Sprintf(`DBPointer(%s, ObjectId("%x"))`, quote(string(text(value[:at]))), value[at:])
	case bson.TypeCodeWithScope:
		code, scope := splitCodeWithScope(value)
		return "Code(" + quote(string(code)) + ", " + displayDocument(scope, "{}", room) + ")"
	case bson.TypeEmbeddedDocument:
		return displayDocument(value, "{}", room)
	case bson.TypeArray:
		return displayDocument(value, "[]", room)
	}
	return "…"
}

// displayDocument formats elements until room bytes are used; nested documents share
// them.
func displayDocument(doc []byte, braces string, room int) string {
	var b strings.Builder
	b.WriteByte(braces[0])
	rest, err := elementsOf(doc)
	for i := 0; err == nil && len(rest) > 0; i++ {
		var e element
		if e, rest, err = next(rest); err != nil {
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		if b.Len() >= room {
			b.WriteString("…")
			break
		}
		if braces == "{}" {
			b.WriteString(displayName(cut(string(e.name))) + ": ")
		}
		b.WriteString(displayValue(e.typ, e.value, room-b.Len()))
	}
	b.WriteByte(braces[1])
	return b.String()
}

func displayBinary(value []byte) string {
	subtype, data := binaryParts(value)
	if subtype == bson.TypeBinaryUUID && len(data) == 16 {
		return fmt.Sprintf(`UUID("%x-%x-%x-%x-%x")`, data[:4], data[4:6], data[6:8], data[8:10], data[10:])
	}
	more := ""
	if len(data) > shownString {
		data, more = data[:shownString/4*3], "…"
	}
	return fmt.Sprintf(`BinData(%d, "%s%s")`, subtype, base64.StdEncoding.EncodeToString(data), more)
}

func quote(s string) string { return strconv.Quote(cut(s)) }

// cut removes the middle of a long string, at character boundaries.
func cut(s string) string {
	if len(s) <= shownString {
		return s
	}
	head, tail := shownString/2, len(s)-shownString/2
	for head > 0 && !utf8.RuneStart(s[head]) {
		head--
	}
	for tail < len(s) && !utf8.RuneStart(s[tail]) {
		tail++
	}
	return s[:head] + "…" + s[tail:]
}
