package value

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// Text formats a value as in the server's error messages: { name: "x", n: 1.0, id:
// ObjectId('…') } (BSONElement::toString, MongoDB 5.0).
func Text(v bson.RawValue) string {
	var b strings.Builder
	writeText(&b, v)
	return b.String()
}

func writeText(b *strings.Builder, v bson.RawValue) {
	switch v.Type {
	case 0:
		b.WriteString("EOO")
	case bson.TypeInt32, bson.TypeInt64:
		n, _ := integer(v)
		b.WriteString(strconv.FormatInt(n, 10))
	case bson.TypeDouble:
		b.WriteString(doubleText(double(v)))
	case bson.TypeDecimal128:
		b.WriteString(v.Decimal128().String())
	case bson.TypeString, bson.TypeSymbol:
		b.WriteString(`"` + string(text(v)) + `"`)
	case bson.TypeEmbeddedDocument:
		writeElements(b, v.Value, "{ ", " }", "{}", true)
	case bson.TypeArray:
		writeElements(b, v.Value, "[ ", " ]", "[]", false)
	case bson.TypeBinary:
		subtype, data := v.Value[4], v.Value[5:]
		if subtype == 4 && len(data) == 16 {
			fmt.Fprintf(b, `UUID("%x-%x-%x-%x-%x")`, data[:4], data[4:6], data[6:8], data[8:10], data[10:])
			return
		}
		fmt.Fprintf(b, "BinData(%d, %s)", subtype, strings.ToUpper(hex.EncodeToString(data)))
	case bson.TypeObjectID:
		fmt.Fprintf(b, "ObjectId('%x')", v.Value)
	case bson.TypeBoolean:
		b.WriteString(strconv.FormatBool(v.Boolean()))
	case bson.TypeDateTime:
		fmt.Fprintf(b, "new Date(%d)", int64(binary.LittleEndian.Uint64(v.Value)))
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		fmt.Fprintf(b, "Timestamp(%d, %d)", t, i)
	case bson.TypeRegex:
		pattern, flags := v.Regex()
		b.WriteString("/" + pattern + "/" + flags)
	case bson.TypeNull:
		b.WriteString("null")
	case bson.TypeUndefined:
		b.WriteString("undefined")
	case bson.TypeMinKey:
		b.WriteString("MinKey")
	case bson.TypeMaxKey:
		b.WriteString("MaxKey")
	case bson.TypeJavaScript:
		b.Write(text(v))
	case bson.TypeCodeWithScope:
		code, scope := scoped(v)
		b.WriteString("CodeWScope( " + string(code) + ", ")
		writeText(b, Doc(scope))
		b.WriteString(")")
	case bson.TypeDBPointer:
		ns, id := v.DBPointer()
		fmt.Fprintf(b, "DBRef('%s',%s)", ns, id.Hex())
	}
}

func writeElements(b *strings.Builder, doc bson.Raw, open, shut, empty string, named bool) {
	first := true
	for r := Read(doc); r.Next(); first = false {
		if first {
			b.WriteString(open)
		} else {
			b.WriteString(", ")
		}
		if named {
			b.Write(r.Key)
			b.WriteString(": ")
		}
		writeText(b, r.Value)
	}
	if first {
		b.WriteString(empty)
		return
	}
	b.WriteString(shut)
}

func doubleText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan.0"
	case math.IsInf(f, 1):
		return "inf.0"
	case math.IsInf(f, -1):
		return "-inf.0"
	}
	s := strconv.FormatFloat(f, 'g', 16, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}
