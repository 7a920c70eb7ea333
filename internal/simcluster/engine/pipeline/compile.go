package pipeline

import (
	"maps"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/query"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// compiler turns stage documents into stages.
type compiler struct {
	env *Env
}

func (c *compiler) stages(docs []bson.Raw) ([]stage, error) {
	var out []stage
	for i, doc := range docs {
		s, err := c.stage(doc, i == 0)
		if err != nil {
			return nil, err
		}
		out = append(out, s)
	}
	return out, nil
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
		inner, err := c.stages(plain)
		return chain(inner), err
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

// unknown is the error for a stage that the server does not have.
func unknown(name string) error {
	return status.Errorf(40324, "Unrecognized pipeline stage name: '%s'", name)
}

// chain runs stages one after the other.
type chain []stage

func (c chain) run(in Docs) Docs {
	for _, s := range c {
		in = s.run(in)
	}
	return in
}

func (c *compiler) transform(t expr.Transform) stage {
	env := &c.env.Expr
	return stageFunc(func(in Docs) Docs {
		return func(yield func(bson.Raw, error) bool) {
			for doc, err := range in {
				if err == nil {
					doc, err = t.Apply(doc, env)
				}
				if !yield(doc, err) || err != nil {
					return
				}
			}
		}
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
	return stageFunc(func(in Docs) Docs {
		return func(yield func(bson.Raw, error) bool) {
			for doc, err := range in {
				ok := err != nil
				if !ok {
					ok, err = f.Match(doc)
				}
				if (ok || err != nil) && !yield(doc, err) || err != nil {
					return
				}
			}
		}
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
