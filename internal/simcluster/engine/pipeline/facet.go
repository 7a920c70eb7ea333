package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// facets runs several pipelines over the same input, which it holds.
func (c *compiler) facets(arg bson.RawValue) (stage, error) {
	if arg.Type != bson.TypeEmbeddedDocument || value.Len(arg.Value) == 0 {
		return nil, status.Errorf(40169, "the $facet specification must be a non-empty object")
	}
	inner := &compiler{env: c.env, facet: true}
	var names []string
	var pipelines []chain
	for name, v := range value.Elements(arg.Value) {
		if v.Type != bson.TypeArray {
			return nil, status.Errorf(40170, "arguments to $facet must be arrays, %s is type %s", name, expr.TypeName(v))
		}
		docs, err := List(v)
		if err != nil {
			return nil, err
		}
		stages, err := inner.stages(docs)
		if err != nil {
			return nil, err
		}
		names, pipelines = append(names, name), append(pipelines, stages)
	}
	return stageFunc(func(in Docs) Docs {
		return func(yield func(bson.Raw, error) bool) {
			var held []bson.Raw
			size := 0
			for d, err := range in {
				if size += len(d); err == nil && size > memoryLimit {
					err = status.Errorf(4031700, "$facet buffer exceeded its limit of %d bytes", memoryLimit)
				}
				if err != nil {
					yield(nil, err)
					return
				}
				held = append(held, d)
			}
			out := value.NewBuilder(256)
			for i, name := range names {
				list := value.NewBuilder(256)
				for d, err := range pipelines[i].run(Of(held...)) {
					if err != nil {
						yield(nil, err)
						return
					}
					list.Push(value.Doc(d))
				}
				out.Append(name, bson.RawValue{Type: bson.TypeArray, Value: list.Raw()})
			}
			yield(out.Raw(), nil)
		}
	}), nil
}
