package query

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/value"
)

// Projection is a compiled projection of find, which has the rules of $project.
type Projection struct {
	apply expr.Transform
	env   *expr.Env
}

// ParseProjection compiles a find projection; nil for an empty one.
func ParseProjection(projection bson.Raw, env *expr.Env) (*Projection, error) {
	if value.Len(projection) == 0 {
		return nil, nil
	}
	t, err := env.CompileProjection(projection)
	return &Projection{t, env}, err
}

// Apply gives the projected document. A nil projection gives doc itself.
func (p *Projection) Apply(doc bson.Raw) (bson.Raw, error) {
	if p == nil {
		return doc, nil
	}
	return p.apply.Apply(doc, p.env)
}
