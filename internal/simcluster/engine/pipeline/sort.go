package pipeline

import (
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *compiler) sort(arg bson.RawValue) (stage, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(15973, "the $sort key specification must be an object")
	}
	if value.Len(arg.Value) == 0 {
		return nil, status.Errorf(15976, "$sort stage must have at least one sort key")
	}
	for _, v := range value.Elements(arg.Value) {
		if !value.IsNumber(v) {
			return nil, status.Errorf(15974,
				"Illegal key in $sort specification: $sort key ordering must be specified using a number or {$meta: 'textScore'}")
		}
		if f := value.Float(v); f != 1 && f != -1 {
			return nil, status.Errorf(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
		}
	}
	order, err := query.ParseSort(arg.Value)
	if err != nil {
		return nil, err
	}
	return sorter{order}, nil
}

// sorter holds its whole input; documents with equal keys keep their order.
type sorter struct{ order *query.Sort }

type keyed struct {
	key []bson.RawValue
	doc bson.Raw
}

func (s sorter) run(in Docs) Docs {
	return func(yield func(bson.Raw, error) bool) {
		var all []keyed
		for doc, err := range in {
			if err != nil {
				yield(nil, err)
				return
			}
			all = append(all, keyed{s.order.Key(doc), doc})
		}
		slices.SortStableFunc(all, func(a, b keyed) int { return s.order.CompareKeys(a.key, b.key) })
		for _, k := range all {
			if !yield(k.doc, nil) {
				return
			}
		}
	}
}
