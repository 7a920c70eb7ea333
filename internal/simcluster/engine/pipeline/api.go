// Package pipeline runs aggregation pipelines over streams of raw documents and splits
// them for a router into a part for the shards and a part that merges their output.
//
// Stages stream if possible; $sort, $group and $sample keep documents in
// memory. A pipeline is compiled, and so validated, before the first document is read.
// Behaviour, messages and codes are those of MongoDB 5.0.
package pipeline

import (
	"iter"
	"math/rand/v2"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
)

// Docs is a stream of documents. It ends after the first error. Documents are immutable
// and stay valid.
type Docs = iter.Seq2[bson.Raw, error]

// Source produces the documents of a stage that reads no collection, from the
// stage's argument.
type Source func(spec bson.Raw) Docs

// Env is the environment of a pipeline. A nil Source makes its stage unknown (40324),
// as on a server that lacks it.
type Env struct {
	Expr expr.Env // clock, variables ("let")
	DB   string   // database of the command; $lookup and $unionWith read there

	// Rand drives $sample; nil draws from the process's generator.
	Rand *rand.Rand

	// Lookup runs a pipeline over another collection of DB, for $lookup and $unionWith.
	// vars are all variables in scope, for the Env of that run. Its leading $match (see
	// Leading) should use an index.
	Lookup func(db, coll string, stages []bson.Raw, vars map[string]bson.RawValue) Docs

	CollStats        Source // $collStats of the shard the pipeline runs on
	IndexStats       Source // $indexStats of that shard
	CurrentOp        Source // $currentOp
	ClusterCatalog   Source // $listClusterCatalog (8.0.10 and later)
	DataDistribution Source // $shardedDataDistribution (6.0.3 and later)
}

// Pipeline is a compiled pipeline. It keeps no state between runs.
type Pipeline struct {
	stages []stage
}

// Compile validates and compiles the stages.
func Compile(stages []bson.Raw, env *Env) (*Pipeline, error) {
	if env == nil {
		env = &Env{}
	}
	c := &compiler{env: env}
	compiled, err := c.stages(stages)
	if err != nil {
		return nil, err
	}
	return &Pipeline{stages: compiled}, nil
}

// Run streams the input through the stages.
func (p *Pipeline) Run(in Docs) Docs {
	for _, s := range p.stages {
		in = s.run(in)
	}
	return in
}

// Run compiles the stages and streams the input through them. in may be nil
// when the first stage is a source.
func Run(stages []bson.Raw, in Docs, env *Env) (Docs, error) {
	p, err := Compile(stages, env)
	if err != nil {
		return nil, err
	}
	if in == nil {
		in = Of()
	}
	return p.Run(in), nil
}

// Of is a stream of the given documents.
func Of(docs ...bson.Raw) Docs {
	return func(yield func(bson.Raw, error) bool) {
		for _, d := range docs {
			if !yield(d, nil) {
				return
			}
		}
	}
}

// fail is a stream that ends with an error at once.
func fail(err error) Docs {
	return func(yield func(bson.Raw, error) bool) { yield(nil, err) }
}

// stage transforms a stream.
type stage interface {
	run(in Docs) Docs
}

// stageFunc is a stage that is only a function.
type stageFunc func(in Docs) Docs

func (f stageFunc) run(in Docs) Docs { return f(in) }
