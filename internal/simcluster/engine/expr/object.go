package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func evalObjectToArray(_ string, args []bson.RawValue) (bson.RawValue, error) {
	if nullish(args[0]) {
		return value.Null(), nil
	}
	if args[0].Type != bson.TypeEmbeddedDocument {
		return missing(), status.Errorf(40390, "$objectToArray requires a document input, found: %s", TypeName(args[0]))
	}
	b := value.NewBuilder(2 * len(args[0].Value))
	for k, v := range value.Elements(args[0].Value) {
		b.Push(value.Doc(value.NewBuilder(32+len(v.Value)).Append("k", value.String(k)).Append("v", v).Raw()))
	}
	return arrayValue(b), nil
}

func evalBSONSize(_ string, args []bson.RawValue) (bson.RawValue, error) {
	switch {
	case nullish(args[0]):
		return value.Null(), nil
	case args[0].Type != bson.TypeEmbeddedDocument:
		return missing(), status.Errorf(31393, "$bsonSize requires a document input, found: %s", TypeName(args[0]))
	}
	return value.Int32(int32(len(args[0].Value))), nil
}
