// Package pipeline runs aggregation pipelines over streams of raw documents and splits
// them for a router into a part for the shards and a part that merges their output.
//
// Stages stream if possible; $sort, $group and $sample keep documents in
// memory. A pipeline is compiled, and so validated, before the first document is read.
// Behaviour, messages and codes are those of MongoDB 5.0.
package pipeline

import (
	"iter"
	"maps"
	"math/rand/v2"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
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
type Pipeline struct{ run stage }

// Compile validates and compiles the stages.
func Compile(stages []bson.Raw, env *Env) (*Pipeline, error) {
	if env == nil {
		env = &Env{}
	}
	c := &compiler{env: env}
	run, err := c.stages(stages)
	return &Pipeline{run}, err
}

// Run streams the input through the stages.
func (p *Pipeline) Run(in Docs) Docs { return p.run(in) }

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

// stage transforms a stream.
type stage func(in Docs) Docs

// each is a stage that looks at one document at a time: f hands on what becomes of it, as long as out returns true.
func each(f func(doc bson.Raw, out func(bson.Raw) bool) (more bool, err error)) stage {
	return func(in Docs) Docs {
		return func(yield func(bson.Raw, error) bool) {
			out := func(doc bson.Raw) bool { return yield(doc, nil) }
			for doc, err := range in {
				more := false
				if err == nil {
					more, err = f(doc, out)
				}
				if err != nil {
					yield(nil, err)
				}
				if err != nil || !more {
					return
				}
			}
		}
	}
}

// whole is a stage that reads all documents before it hands any on.
func whole(f func(docs []bson.Raw) ([]bson.Raw, error)) stage {
	return func(in Docs) Docs {
		return func(yield func(bson.Raw, error) bool) {
			var all []bson.Raw
			for doc, err := range in {
				if err != nil {
					yield(nil, err)
					return
				}
				all = append(all, doc)
			}
			out, err := f(all)
			if err != nil {
				yield(nil, err)
				return
			}
			Of(out...)(yield)
		}
	}
}

// compiler turns stage documents into stages.
type compiler struct {
	env *Env
}

func (c *compiler) stages(docs []bson.Raw) (stage, error) {
	var all []stage
	for i, doc := range docs {
		s, err := c.stage(doc, i == 0)
		if err != nil {
			return nil, err
		}
		all = append(all, s)
	}
	return func(in Docs) Docs {
		for _, s := range all {
			in = s(in)
		}
		return in
	}, nil
}

// head is the name and argument of a stage.
func head(doc bson.Raw) (name string, arg bson.RawValue, err error) {
	if value.Len(doc) != 1 {
		return "", arg, status.Errorf(40323, "A pipeline stage specification object must contain exactly one field.")
	}
	name, arg = value.First(doc)
	return name, arg, nil
}

func (c *compiler) stage(doc bson.Raw, first bool) (stage, error) {
	name, arg, err := head(doc)
	if err != nil {
		return nil, err
	}
	if t, ok, err := c.env.Expr.CompileTransform(doc); ok || err != nil {
		return c.transform(t), err
	}
	switch name {
	case "$match":
		return c.match(arg)
	case "$sort":
		return c.sort(arg)
	case "$limit", "$skip":
		return c.limit(name, arg)
	case "$group":
		return c.group(arg)
	case "$count":
		plain, err := rewriteCount(arg)
		if err != nil {
			return nil, err
		}
		return c.stages(plain)
	case "$unwind":
		return c.unwind(arg)
	case "$lookup":
		return c.lookup(arg)
	case "$unionWith":
		return c.union(arg)
	case "$sample":
		return c.sample(arg)
	case "$documents":
		return c.documents(arg, first)
	}
	return c.source(name, arg, first)
}

func (c *compiler) transform(t expr.Transform) stage {
	return each(func(doc bson.Raw, out func(bson.Raw) bool) (bool, error) {
		doc, err := t.Apply(doc, &c.env.Expr)
		return err == nil && out(doc), err
	})
}

func (c *compiler) match(arg bson.RawValue) (stage, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(15959, "the match filter must be an expression in an object")
	}
	f, err := query.Parse(arg.Value, &c.env.Expr)
	if err != nil {
		return nil, err
	}
	return each(func(doc bson.Raw, out func(bson.Raw) bool) (bool, error) {
		ok, err := f.Match(doc)
		return err == nil && (!ok || out(doc)), err
	}), nil
}

// with is a copy of the variables with more of them.
func with(vars map[string]bson.RawValue, more map[string]bson.RawValue) map[string]bson.RawValue {
	out := make(map[string]bson.RawValue, len(vars)+len(more))
	maps.Copy(out, vars)
	maps.Copy(out, more)
	return out
}

// text is a string argument.
func text(v bson.RawValue) (string, bool) {
	s, ok := v.StringValueOK()
	return s, ok
}

// dollar reports whether a name begins with a dollar sign.
func dollar(s string) bool { return strings.HasPrefix(s, "$") }

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
	case !ok || name == "":
		return nil, status.Errorf(40156, "the count field must be a non-empty string")
	case dollar(name):
		return nil, status.Errorf(40158, "the count field cannot be a $-prefixed path")
	case strings.Contains(name, "."):
		return nil, status.Errorf(40160, "the count field cannot contain '.'")
	}
	return []bson.Raw{
		stageOf("$group", doc("_id", value.Null(), name, doc("$sum", one()))),
		stageOf("$project", doc("_id", value.Bool(false))),
	}, nil
}

// source compiles the stages that produce documents themselves.
func (c *compiler) source(name string, arg bson.RawValue, first bool) (stage, error) {
	hook := map[string]Source{
		"$collStats": c.env.CollStats, "$indexStats": c.env.IndexStats, "$currentOp": c.env.CurrentOp,
		"$shardedDataDistribution": c.env.DataDistribution,
		"$listClusterCatalog":      c.env.ClusterCatalog,
	}[name]
	switch {
	case hook == nil:
		return nil, status.Errorf(40324, "Unrecognized pipeline stage name: '%s'", name)
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
	for k := range value.Elements(spec) {
		switch k {
		case "latencyStats", "storageStats", "count", "queryExecStats":
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
	docs, err := List(v)
	if err != nil {
		return nil, status.Errorf(5858203, "an array is expected")
	}
	return func(Docs) Docs { return Of(docs...) }, nil
}
