package catalog

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// text writes a document as the server does in its messages (bson/bsonobj.cpp,
// toString): "{ p: ObjectId('…'), k: 5 }".
func text(doc bson.Raw) string {
	var b strings.Builder
	writeDocument(&b, doc)
	return b.String()
}

// rangeText writes a range as "[{ min }, { max })".
func rangeText(lo, hi bson.Raw) string { return "[" + text(lo) + ", " + text(hi) + ")" }

func writeDocument(b *strings.Builder, doc bson.Raw) {
	elements, err := doc.Elements()
	if err != nil || len(elements) == 0 {
		b.WriteString("{}")
		return
	}
	for i, e := range elements {
		b.WriteString(map[bool]string{true: "{ ", false: ", "}[i == 0])
		b.WriteString(e.Key())
		b.WriteString(": ")
		writeValue(b, e.Value())
	}
	b.WriteString(" }")
}

func writeValue(b *strings.Builder, v bson.RawValue) {
	switch v.Type {
	case bson.TypeMinKey:
		b.WriteString("MinKey")
	case bson.TypeMaxKey:
		b.WriteString("MaxKey")
	case bson.TypeNull:
		b.WriteString("null")
	case bson.TypeUndefined:
		b.WriteString("undefined")
	case bson.TypeBoolean:
		b.WriteString(strconv.FormatBool(v.Boolean()))
	case bson.TypeInt32:
		b.WriteString(strconv.FormatInt(int64(v.Int32()), 10))
	case bson.TypeInt64:
		b.WriteString(strconv.FormatInt(v.Int64(), 10))
	case bson.TypeDouble:
		b.WriteString(doubleText(v.Double()))
	case bson.TypeString:
		b.WriteString(strconv.Quote(v.StringValue()))
	case bson.TypeObjectID:
		b.WriteString("ObjectId('" + v.ObjectID().Hex() + "')")
	case bson.TypeDateTime:
		b.WriteString("new Date(" + strconv.FormatInt(v.DateTime(), 10) + ")")
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		fmt.Fprintf(b, "Timestamp(%d, %d)", t, i)
	case bson.TypeBinary:
		sub, data := v.Binary()
		if sub == bson.TypeBinaryUUID && len(data) == 16 {
			b.WriteString(`UUID("` + uuidText([16]byte(data)) + `")`)
			return
		}
		fmt.Fprintf(b, "BinData(%d, %s)", sub, strings.ToUpper(hex.EncodeToString(data)))
	case bson.TypeEmbeddedDocument:
		writeDocument(b, v.Document())
	case bson.TypeArray:
		writeArray(b, v)
	default:
		b.WriteString(v.String())
	}
}

func writeArray(b *strings.Builder, v bson.RawValue) {
	values, err := v.Array().Values()
	if err != nil || len(values) == 0 {
		b.WriteString("[]")
		return
	}
	for i, e := range values {
		b.WriteString(map[bool]string{true: "[ ", false: ", "}[i == 0])
		writeValue(b, e)
	}
	b.WriteString(" ]")
}

// doubleText keeps a decimal point on whole numbers, so that 5.0 is seen as a double.
func doubleText(f float64) string {
	if math.IsNaN(f) {
		return "nan.0"
	}
	if math.IsInf(f, 0) {
		return strings.ToLower(strings.TrimPrefix(strconv.FormatFloat(f, 'g', -1, 64), "+")) + ".0"
	}
	s := strconv.FormatFloat(f, 'g', 16, 64)
	if back, _ := strconv.ParseFloat(s, 64); back != f {
		s = strconv.FormatFloat(f, 'g', 17, 64)
	}
	if !strings.ContainsAny(s, ".eE") {
		s += ".0"
	}
	return s
}

func uuidText(u [16]byte) string {
	s := hex.EncodeToString(u[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

// versionText is a collection version in messages: "1|5||<epoch>||Timestamp(t, i)".
func versionText(v bson.Timestamp, epoch bson.ObjectID, at bson.Timestamp) string {
	return fmt.Sprintf("%d|%d||%s||Timestamp(%d, %d)", v.T, v.I, epoch.Hex(), at.T, at.I)
}

// logTime is the date inside a change log id.
func logTime(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000-07:00") }
