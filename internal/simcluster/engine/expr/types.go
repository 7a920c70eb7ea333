package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

func typeOperators(name string) parser {
	switch name {
	case "$type":
		return fixed(1, func(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
			return value.String(TypeName(args[0])), nil
		})
	case "$isNumber":
		return fixed(1, func(_ *evaluation, _ string, args []bson.RawValue) (bson.RawValue, error) {
			return value.Bool(value.IsNumber(args[0])), nil
		})
	}
	return nil
}
