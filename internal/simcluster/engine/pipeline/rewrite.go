package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func one() bson.RawValue { return value.Int32(1) }

func doc(pairs ...any) bson.RawValue {
	b := value.NewBuilder(64)
	for i := 0; i < len(pairs); i += 2 {
		b.Append(pairs[i].(string), pairs[i+1].(bson.RawValue))
	}
	return value.Doc(b.Raw())
}

func stageOf(name string, arg bson.RawValue) bson.Raw { return doc(name, arg).Value }

// rewriteCount expresses $count by the stages it stands for, which is also how a router splits it.
func rewriteCount(arg bson.RawValue) ([]bson.Raw, error) {
	name, ok := text(arg)
	switch {
	case !ok:
		return nil, status.Errorf(40156, "the count field must be a non-empty string")
	case name == "":
		return nil, status.Errorf(40157, "the count field must be a non-empty string")
	case dollar(name):
		return nil, status.Errorf(40158, "the count field cannot be a $-prefixed path")
	case strings.Contains(name, "\x00"):
		return nil, status.Errorf(40159, "the count field cannot contain a null byte")
	case strings.Contains(name, "."):
		return nil, status.Errorf(40160, "the count field cannot contain '.'")
	}
	return []bson.Raw{
		stageOf("$group", doc("_id", value.Null(), name, doc("$sum", one()))),
		stageOf("$project", doc("_id", value.Bool(false))),
	}, nil
}
