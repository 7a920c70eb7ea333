package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// Lead is the beginning of a pipeline as a query, so that the caller can target shards
// and use indexes.
type Lead struct {
	Filter bson.Raw // all leading $match together; nil = everything
	Sort   bson.Raw // the $sort after them; nil = none
	Skip   int64    // the $skip after that
	Limit  int64    // and the $limit; 0 = none
	Rest   []bson.Raw
}

// Leading splits the leading $match stages, a $sort, a $skip and a $limit off a
// pipeline. Running Rest over the result of a find with Filter, Sort, Skip and Limit is
// equivalent to the whole pipeline.
func Leading(stages []bson.Raw) Lead {
	l := Lead{}
	l.Filter, l.Rest = LeadingMatch(stages)
	take := func(want string) (bson.RawValue, bool) {
		if First(l.Rest) != want {
			return bson.RawValue{}, false
		}
		_, arg := value.First(l.Rest[0])
		return arg, true
	}
	if arg, ok := take("$sort"); ok && arg.Type == bson.TypeEmbeddedDocument {
		l.Sort, l.Rest = arg.Value, l.Rest[1:]
	}
	if arg, ok := take("$skip"); ok {
		if n, err := count("$skip", arg); err == nil {
			l.Skip, l.Rest = n, l.Rest[1:]
		}
	}
	if arg, ok := take("$limit"); ok {
		if n, err := count("$limit", arg); err == nil {
			l.Limit, l.Rest = n, l.Rest[1:]
		}
	}
	return l
}

// LeadingMatch is the filter of the leading $match stages and what follows.
func LeadingMatch(stages []bson.Raw) (filter bson.Raw, rest []bson.Raw) {
	var filters []bson.RawValue
	for len(stages) > 0 {
		name, arg := value.First(stages[0])
		if name != "$match" || arg.Type != bson.TypeEmbeddedDocument {
			break
		}
		filters, stages = append(filters, arg), stages[1:]
	}
	switch len(filters) {
	case 0:
		return nil, stages
	case 1:
		return filters[0].Value, stages
	}
	return doc("$and", value.Array(filters...)).Value, stages
}
