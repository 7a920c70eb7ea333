package simcluster

import (
	"encoding/hex"
	"fmt"
	"math"
	"strconv"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// shellText writes a document as the server's BSONObj::toString does, which is
// what its error messages and index bounds show.
func shellText(doc bson.Raw) string {
	var b strings.Builder
	writeFields(&b, doc)
	return b.String()
}

// shellValue writes one value that way.
func shellValue(v bson.RawValue) string {
	var b strings.Builder
	writeShell(&b, v)
	return b.String()
}

func writeFields(b *strings.Builder, doc bson.Raw) {
	if len(doc) <= 5 {
		b.WriteString("{}")
		return
	}
	b.WriteString("{ ")
	first := true
	for e := value.Read(doc); e.Next(); first = false {
		if !first {
			b.WriteString(", ")
		}
		b.Write(e.Key)
		b.WriteString(": ")
		writeShell(b, e.Value)
	}
	b.WriteString(" }")
}

func writeShell(b *strings.Builder, v bson.RawValue) {
	switch v.Type {
	case bson.TypeMinKey:
		b.WriteString("MinKey")
	case bson.TypeMaxKey:
		b.WriteString("MaxKey")
	case bson.TypeNull:
		b.WriteString("null")
	case bson.TypeUndefined, 0:
		b.WriteString("undefined")
	case bson.TypeBoolean:
		b.WriteString(strconv.FormatBool(v.Boolean()))
	case bson.TypeInt32:
		b.WriteString(strconv.Itoa(int(v.Int32())))
	case bson.TypeInt64:
		b.WriteString(strconv.FormatInt(v.Int64(), 10))
	case bson.TypeDouble:
		b.WriteString(doubleText(v.Double()))
	case bson.TypeDecimal128:
		b.WriteString(v.Decimal128().String())
	case bson.TypeString:
		fmt.Fprintf(b, "%q", v.StringValue())
	case bson.TypeSymbol:
		fmt.Fprintf(b, "%q", v.Symbol())
	case bson.TypeObjectID:
		b.WriteString("ObjectId('" + v.ObjectID().Hex() + "')")
	case bson.TypeDateTime:
		fmt.Fprintf(b, "new Date(%d)", v.DateTime())
	case bson.TypeTimestamp:
		t, i := v.Timestamp()
		fmt.Fprintf(b, "Timestamp(%d, %d)", t, i)
	case bson.TypeRegex:
		pattern, options := v.Regex()
		b.WriteString("/" + pattern + "/" + options)
	case bson.TypeBinary:
		writeBinary(b, v)
	case bson.TypeEmbeddedDocument:
		writeFields(b, v.Value)
	case bson.TypeArray:
		writeItems(b, v)
	default:
		b.WriteString(v.String())
	}
}

func writeBinary(b *strings.Builder, v bson.RawValue) {
	kind, data := v.Binary()
	if kind == bson.TypeBinaryUUID && len(data) == 16 {
		s := hex.EncodeToString(data)
		fmt.Fprintf(b, "UUID(\"%s-%s-%s-%s-%s\")", s[:8], s[8:12], s[12:16], s[16:20], s[20:])
		return
	}
	fmt.Fprintf(b, "BinData(%d, %X)", kind, data)
}

func writeItems(b *strings.Builder, v bson.RawValue) {
	open := "[ "
	for item := range value.Items(v) {
		b.WriteString(open)
		writeShell(b, item)
		open = ", "
	}
	if open == "[ " {
		b.WriteString("[]")
		return
	}
	b.WriteString(" ]")
}

// doubleText keeps a decimal point on whole numbers, so that a double is seen as
// one.
func doubleText(f float64) string {
	switch {
	case math.IsNaN(f):
		return "nan.0"
	case math.IsInf(f, 1):
		return "inf.0"
	case math.IsInf(f, -1):
		return "-inf.0"
	}
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".e") {
		s += ".0"
	}
	return s
}

// encode marshals what the package builds itself, which can't fail.
func encode(d any) bson.Raw {
	raw, err := bson.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("encode %v: %v", d, err))
	}
	return raw
}

// hasPath tells whether a document has a value at a dotted path.
func hasPath(doc bson.Raw, path string) bool {
	_, ok := value.Lookup(doc, path)
	return ok
}
