package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// source compiles the stages that produce documents themselves.
func (c *compiler) source(name string, arg bson.RawValue, first bool) (stage, error) {
	hook := map[string]Source{
		"$collStats": c.env.CollStats, "$indexStats": c.env.IndexStats, "$currentOp": c.env.CurrentOp,
		"$shardedDataDistribution": c.env.DataDistribution,
		"$listClusterCatalog":      c.env.ClusterCatalog,
	}[name]
	switch {
	case hook == nil:
		return nil, unknown(name)
	case !first:
		return nil, notFirst(name)
	case arg.Type != bson.TypeEmbeddedDocument:
		return nil, status.Errorf(status.FailedToParse, "%s must take a nested object but found: %s", name, name+": "+expr.Text(arg))
	case name == "$collStats":
		if err := checkCollStats(arg.Value); err != nil {
			return nil, err
		}
	}
	return func(Docs) Docs { return hook(arg.Value) }, nil
}

func notFirst(name string) error {
	return status.Errorf(40602, "%s is only valid as the first stage in a pipeline", name)
}

func checkCollStats(spec bson.Raw) error {
	for k, v := range value.Elements(spec) {
		switch k {
		case "latencyStats", "storageStats", "count", "queryExecStats":
			if v.Type != bson.TypeEmbeddedDocument {
				return status.Errorf(status.TypeMismatch,
					"BSON field '$collStats.%s' is the wrong type '%s', expected type 'object'", k, expr.TypeName(v))
			}
		default:
			return status.Errorf(40415, "BSON field '$collStats.%s' is an unknown field.", k)
		}
	}
	return nil
}

// documents is $documents: the elements of an array expression.
func (c *compiler) documents(arg bson.RawValue, first bool) (stage, error) {
	if !first {
		return nil, notFirst("$documents")
	}
	e, err := c.env.Expr.Compile(arg)
	if err != nil {
		return nil, err
	}
	v, err := e.Eval(value.NewBuilder(5).Raw(), &c.env.Expr)
	if err != nil {
		return nil, err
	}
	if v.Type != bson.TypeArray {
		return nil, status.Errorf(5858203, "an array is expected")
	}
	var docs []bson.Raw
	for d := range value.Items(v) {
		if d.Type != bson.TypeEmbeddedDocument {
			return nil, status.Errorf(40228, "'newRoot' expression  must evaluate to an object, but resulting value was: %s. "+
				"Type of resulting value: '%s'.", expr.Text(d), expr.TypeName(d))
		}
		docs = append(docs, d.Value)
	}
	return func(Docs) Docs { return Of(docs...) }, nil
}
