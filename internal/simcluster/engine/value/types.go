package value

import (
	"fmt"

	"go.mongodb.org/mongo-driver/v2/bson"
)

// typeNames are the names of $type, which messages use too.
var typeNames = map[bson.Type]string{
	bson.TypeDouble: "double", bson.TypeString: "string", bson.TypeEmbeddedDocument: "object", bson.TypeArray: "array",
	bson.TypeBinary: "binData", bson.TypeUndefined: "undefined", bson.TypeObjectID: "objectId", bson.TypeBoolean: "bool",
	bson.TypeDateTime: "date", bson.TypeNull: "null", bson.TypeRegex: "regex", bson.TypeDBPointer: "dbPointer",
	bson.TypeJavaScript: "javascript", bson.TypeSymbol: "symbol", bson.TypeCodeWithScope: "javascriptWithScope",
	bson.TypeInt32: "int", bson.TypeTimestamp: "timestamp", bson.TypeInt64: "long", bson.TypeDecimal128: "decimal",
	bson.TypeMinKey: "minKey", bson.TypeMaxKey: "maxKey", 0: "missing",
}

// TypeName is the name of a value's type; "missing" for the zero value.
func TypeName(v bson.RawValue) string { return typeNames[v.Type] }

// TypeNamed is the type of a name.
func TypeNamed(name string) (bson.Type, bool) {
	for t, n := range typeNames {
		if n == name && t != 0 {
			return t, true
		}
	}
	return 0, false
}

// True reads a boolean argument of a command; the server takes numbers for booleans too.
func True(v bson.RawValue) bool {
	if v.Type == bson.TypeBoolean {
		return v.Boolean()
	}
	return IsNumber(v) && Float(v) != 0
}

// Encode marshals a document that the program itself built, which cannot fail.
func Encode(doc any) bson.Raw {
	raw, err := bson.Marshal(doc)
	if err != nil {
		panic(fmt.Sprintf("encode %v: %v", doc, err))
	}
	return raw
}

// UUID is a uuid as a value.
func UUID(id [16]byte) bson.Binary { return bson.Binary{Subtype: bson.TypeBinaryUUID, Data: id[:]} }

// D is the document of fields and values in turn: D("a", 1, "b", x). A document in the place of a field adds all its
// fields: D("a", 1, more). It panics if a field is anything else.
func D(pairs ...any) bson.D {
	d := make(bson.D, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i++ {
		if more, ok := pairs[i].(bson.D); ok {
			d = append(d, more...)
			continue
		}
		d = append(d, bson.E{Key: pairs[i].(string), Value: pairs[i+1]})
		i++
	}
	return d
}

// When is D(pairs...) for the fields that a document has only if a condition holds, else nothing.
func When(holds bool, pairs ...any) bson.D {
	if !holds {
		return nil
	}
	return D(pairs...)
}
