package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// TypeName is the result of $type and the type's name in messages; "missing" for the
// zero value.
func TypeName(v bson.RawValue) string {
	if v.Type == 0 {
		return "missing"
	}
	if name, ok := nameOf(v.Type); ok {
		return name
	}
	return "unknown"
}

func nameOf(t bson.Type) (string, bool) {
	for _, n := range typeNames() {
		if n.t == t {
			return n.name, true
		}
	}
	return "", false
}

type namedType struct {
	t    bson.Type
	name string
}

func typeNames() [21]namedType {
	return [...]namedType{
		{bson.TypeDouble, "double"}, {bson.TypeString, "string"}, {bson.TypeEmbeddedDocument, "object"},
		{bson.TypeArray, "array"}, {bson.TypeBinary, "binData"}, {bson.TypeUndefined, "undefined"},
		{bson.TypeObjectID, "objectId"}, {bson.TypeBoolean, "bool"}, {bson.TypeDateTime, "date"},
		{bson.TypeNull, "null"}, {bson.TypeRegex, "regex"}, {bson.TypeDBPointer, "dbPointer"},
		{bson.TypeJavaScript, "javascript"}, {bson.TypeSymbol, "symbol"},
		{bson.TypeCodeWithScope, "javascriptWithScope"}, {bson.TypeInt32, "int"},
		{bson.TypeTimestamp, "timestamp"}, {bson.TypeInt64, "long"}, {bson.TypeDecimal128, "decimal"},
		{bson.TypeMinKey, "minKey"}, {bson.TypeMaxKey, "maxKey"},
	}
}

// Text writes a value the way the server's messages do: { a: 1, b: "x" }.
func Text(v bson.RawValue) string {
	if v.Type == 0 {
		return "missing"
	}
	return value.Text(v)
}
