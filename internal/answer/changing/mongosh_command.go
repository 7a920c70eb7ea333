package changing

import (
	"encoding/base64"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions/operation"
	"shardboard/internal/sanitize"
	"shardboard/internal/shardkey"
)

// MongoshCommand is a command as it can be pasted into mongosh; "" for a step that
// sends nothing.
func MongoshCommand(c operation.Command) string {
	if len(c.Doc) == 0 {
		return ""
	}
	if shardkey.IsHidden(c.Doc) {
		return shardkey.HiddenText
	}
	var b strings.Builder
	b.WriteString("db.getSiblingDB(" + sanitize.Quoted(c.DB) + ").runCommand(")
	shellDocument(&b, c.Doc)
	b.WriteByte(')')
	return b.String()
}

func shellDocument(b *strings.Builder, doc bson.Raw) {
	elements, err := doc.Elements()
	if err != nil {
		b.WriteString("{}") // ours: made by the renderer, so well-formed
		return
	}
	b.WriteByte('{')
	for i, e := range elements {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(sanitize.Quoted(e.Key()) + ": ")
		shellValue(b, e.Value())
	}
	b.WriteByte('}')
}

func shellValue(b *strings.Builder, v bson.RawValue) {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		shellDocument(b, v.Document())
	case bson.TypeArray:
		values, _ := v.Array().Values()
		b.WriteByte('[')
		for i, x := range values {
			if i > 0 {
				b.WriteString(", ")
			}
			shellValue(b, x)
		}
		b.WriteByte(']')
	default:
		b.WriteString(shellScalar(v))
	}
}

// shellScalar writes one value with its type. A type that has no short form in
// the shell is written as Extended JSON, which the shell reads too.
func shellScalar(v bson.RawValue) string {
	switch v.Type {
	case bson.TypeString:
		return sanitize.Quoted(v.StringValue())
	case bson.TypeBoolean:
		return strconv.FormatBool(v.Boolean())
	case bson.TypeNull:
		return "null"
	case bson.TypeInt32:
		return strconv.FormatInt(int64(v.Int32()), 10)
	case bson.TypeInt64:
		return `NumberLong("` + strconv.FormatInt(v.Int64(), 10) + `")`
	case bson.TypeDouble:
		return shellDouble(v.Double())
	case bson.TypeObjectID:
		return `ObjectId("` + v.ObjectID().Hex() + `")`
	case bson.TypeDateTime:
		return `ISODate("` + time.UnixMilli(v.DateTime()).UTC().Format("2006-01-02T15:04:05.000Z") + `")`
	case bson.TypeDecimal128:
		return `NumberDecimal("` + v.Decimal128().String() + `")`
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		return fmt.Sprintf("Timestamp({t: %d, i: %d})", t, i)
	case bson.TypeBinary:
		subtype, data := v.Binary()
		return fmt.Sprintf("BinData(%d, %s)", subtype, sanitize.Quoted(base64.StdEncoding.EncodeToString(data)))
	case bson.TypeMinKey:
		return "MinKey()"
	case bson.TypeMaxKey:
		return "MaxKey()"
	}
	doc, err := bson.Marshal(bson.D{{Key: "v", Value: v}})
	if err != nil {
		return "null"
	}
	text, err := bson.MarshalExtJSON(bson.Raw(doc), true, false)
	if err != nil {
		return "null"
	}
	return "EJSON.deserialize(" + string(text) + ").v"
}

// shellDouble keeps a whole double a double: the shell would send an int.
func shellDouble(f float64) string {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case f == math.Trunc(f):
		return "Double(" + strconv.FormatFloat(f, 'g', -1, 64) + ")"
	}
	return strconv.FormatFloat(f, 'g', -1, 64)
}
