package expr

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/value"
)

// projection is $project (with include) and $unset (without).
type projection struct {
	tree    *tree
	include bool
	locals  int
}

func (p projection) Apply(doc bson.Raw, env *Env) (bson.Raw, error) {
	if !p.include {
		return exclude(p.tree, doc), nil
	}
	return p.included(newEvaluation(doc, env, p.locals), p.tree, doc)
}

func exclude(t *tree, doc []byte) bson.Raw {
	b := value.NewBuilder(len(doc))
	for key, v := range fields(doc) {
		if i, ok := t.find(key); ok {
			if t.nodes[i].leaf() {
				continue
			}
			v = excludeIn(t.nodes[i].sub, v)
		}
		b.Append(string(key), v)
	}
	return b.Raw()
}

func excludeIn(t *tree, v bson.RawValue) bson.RawValue {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return value.Doc(exclude(t, v.Value))
	case bson.TypeArray:
		b := value.NewBuilder(len(v.Value))
		for item := range items(v.Value) {
			b.Push(excludeIn(t, item))
		}
		return arrayValue(b)
	}
	return v
}

// included keeps fields in the order of the document and puts computed ones
// after them, in the order of the specification.
func (p projection) included(c *evaluation, t *tree, doc []byte) (bson.Raw, error) {
	b := value.NewBuilder(len(doc))
	done := make([]bool, len(t.names))
	for key, v := range fields(doc) {
		i, ok := t.find(key)
		if !ok || done[i] || t.nodes[i].expr != nil {
			continue
		}
		done[i] = true
		if n := t.nodes[i]; !n.leaf() {
			var err error
			if v, err = p.includedIn(c, n.sub, v); err != nil {
				return nil, err
			}
		}
		b.Append(string(key), v)
	}
	for i, name := range t.names {
		n := t.nodes[i]
		if done[i] {
			continue
		}
		var v bson.RawValue
		var err error
		switch {
		case n.expr != nil:
			v, err = n.expr.eval(c)
		case !n.leaf() && computes(n.sub):
			v, err = p.includedIn(c, n.sub, value.Doc(nil))
		}
		if err != nil {
			return nil, err
		}
		b.Append(name, v)
	}
	return b.Raw(), nil
}

// includedIn applies a nested specification: to each document of an array; any
// other value is dropped, or replaced where the specification computes fields.
func (p projection) includedIn(c *evaluation, t *tree, v bson.RawValue) (bson.RawValue, error) {
	switch {
	case v.Type == bson.TypeArray:
		b := value.NewBuilder(len(v.Value))
		for item := range items(v.Value) {
			item, err := p.includedIn(c, t, item)
			if err != nil {
				return missing(), err
			}
			b.Push(item) // a dropped scalar leaves no gap
		}
		return arrayValue(b), nil
	case v.Type == bson.TypeEmbeddedDocument:
		doc, err := p.included(c, t, v.Value)
		return value.Doc(doc), err
	case computes(t):
		doc, err := p.included(c, t, nil)
		return value.Doc(doc), err
	}
	return missing(), nil
}

func computes(t *tree) bool {
	for _, n := range t.nodes {
		if n.expr != nil || n.sub != nil && computes(n.sub) {
			return true
		}
	}
	return false
}
