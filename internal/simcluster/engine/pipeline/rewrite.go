package pipeline

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// rewrite expresses $count, $sortByCount and $bucket by the stages they stand
// for, which is also how a router splits them.
func rewrite(name string, arg bson.RawValue) ([]bson.Raw, error) {
	switch name {
	case "$count":
		return rewriteCount(arg)
	case "$sortByCount":
		return rewriteSortByCount(arg)
	}
	return rewriteBucket(arg)
}

func one() bson.RawValue { return value.Int32(1) }

func doc(pairs ...any) bson.RawValue {
	b := value.NewBuilder(64)
	for i := 0; i < len(pairs); i += 2 {
		b.Append(pairs[i].(string), pairs[i+1].(bson.RawValue))
	}
	return value.Doc(b.Raw())
}

func stageOf(name string, arg bson.RawValue) bson.Raw { return doc(name, arg).Value }

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

func rewriteSortByCount(arg bson.RawValue) ([]bson.Raw, error) {
	switch s, isText := text(arg); {
	case arg.Type == bson.TypeEmbeddedDocument:
		if first, _ := value.First(arg.Value); !dollar(first) {
			return nil, status.Errorf(40147, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
		}
	case isText && !dollar(s):
		return nil, status.Errorf(40148, "the sortByCount field must be defined as a $-prefixed path or an expression inside an object")
	case !isText:
		return nil, status.Errorf(40149, "the sortByCount field must be specified as a string or as an object")
	}
	return []bson.Raw{
		stageOf("$group", doc("_id", arg, "count", doc("$sum", one()))),
		stageOf("$sort", doc("count", value.Int32(-1))),
	}, nil
}

func rewriteBucket(arg bson.RawValue) ([]bson.Raw, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(40201, "Argument to $bucket stage must be an object, but found type: %s.", expr.TypeName(arg))
	}
	by, boundaries, other := value.Field(arg.Value, "groupBy"), value.Field(arg.Value, "boundaries"), value.Field(arg.Value, "default")
	output := value.Field(arg.Value, "output")
	for k := range value.Elements(arg.Value) {
		switch k {
		case "groupBy", "boundaries", "default", "output":
		default:
			return nil, status.Errorf(40197, "Unrecognized option to $bucket: %s.", k)
		}
	}
	if by.Type == 0 || boundaries.Type == 0 {
		return nil, status.Errorf(40198, "$bucket requires 'groupBy' and 'boundaries' to be specified.")
	}
	if s, ok := text(by); ok && !dollar(s) || !ok && by.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(40202,
			"The $bucket 'groupBy' field must be defined as a $-prefixed path or an expression, but found: %s.", expr.Text(by))
	}
	if boundaries.Type != bson.TypeArray {
		return nil, status.Errorf(40200, "The $bucket 'boundaries' field must be an array, but found type: %s.", expr.TypeName(boundaries))
	}
	var at []bson.RawValue
	for v := range value.Items(boundaries) {
		if n := len(at); n > 0 {
			if value.Rank(at[n-1].Type) != value.Rank(v.Type) {
				return nil, status.Errorf(40193, "All values in the the 'boundaries' option to $bucket must have the same type. "+
					"Found conflicting types %s and %s.", expr.TypeName(at[n-1]), expr.TypeName(v))
			}
			if value.Compare(at[n-1], v) >= 0 {
				return nil, status.Errorf(40194, "The 'boundaries' option to $bucket must be sorted, but elements %d and %d are "+
					"not in ascending order (%s is not less than %s).", n-1, n, expr.Text(at[n-1]), expr.Text(v))
			}
		}
		at = append(at, v)
	}
	if len(at) < 2 {
		return nil, status.Errorf(40192, "The $bucket 'boundaries' field must have at least 2 values, but found %d value(s).", len(at))
	}
	if other.Type != 0 && value.Compare(other, at[0]) >= 0 && value.Compare(other, at[len(at)-1]) < 0 {
		return nil, status.Errorf(40199,
			"The $bucket 'default' field must be less than the lowest boundary or greater than or equal to the highest boundary.")
	}
	var branches []bson.RawValue
	literal := func(v bson.RawValue) bson.RawValue { return doc("$literal", v) }
	for i := 0; i+1 < len(at); i++ {
		branches = append(branches, doc(
			"case", doc("$and", value.Array(doc("$gte", value.Array(by, literal(at[i]))), doc("$lt", value.Array(by, literal(at[i+1]))))),
			"then", literal(at[i])))
	}
	sw := value.NewBuilder(256).Append("branches", value.Array(branches...))
	if other.Type != 0 {
		sw.Append("default", literal(other))
	}
	group := value.NewBuilder(256).Append("_id", doc("$switch", value.Doc(sw.Raw())))
	switch output.Type {
	case 0:
		group.Append("count", doc("$sum", one()))
	case bson.TypeEmbeddedDocument:
		for k, v := range value.Elements(output.Value) {
			group.Append(k, v)
		}
	default:
		return nil, status.Errorf(40196, "The $bucket 'output' field must be an object, but found type: %s.", expr.TypeName(output))
	}
	return []bson.Raw{stageOf("$group", value.Doc(group.Raw())), stageOf("$sort", doc("_id", one()))}, nil
}
