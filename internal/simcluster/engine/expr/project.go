package expr

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// projector reads a specification and settles whether it includes or excludes.
type projector struct {
	c        *compiler
	tree     *tree
	decided  bool
	include  bool
	idGiven  bool
	idBranch *branch
}

func (c *compiler) project(arg bson.RawValue) (Transform, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(15969, "$project specification must be an object")
	}
	if value.Len(arg.Value) == 0 {
		return nil, status.Errorf(51272, "Invalid $project :: caused by :: projection specification must have at least one field")
	}
	t, err := c.projection(arg.Value)
	return t, status.Context("Invalid $project", err)
}

// CompileProjection compiles the projection of a find, which is not empty.
func (e *Env) CompileProjection(spec bson.Raw) (Transform, error) {
	return (&compiler{known: e.known}).projection(spec)
}

func (c *compiler) projection(spec bson.Raw) (Transform, error) {
	p := &projector{c: c, tree: &tree{}}
	empty := status.Errorf(51270, "An empty sub-projection is not a valid value. Found empty object at path")
	if err := eachLeaf(nil, spec, empty, p.leaf); err != nil {
		return nil, err
	}
	return p.finish(), nil
}

func (p *projector) finish() Transform {
	if !p.decided {
		// Only _id was given: {_id: 0} excludes, {_id: 1} includes.
		p.include = p.idBranch != nil && !p.idBranch.exclude
	}
	switch {
	case p.idGiven && p.include == !p.idBranch.exclude:
		p.tree.names, p.tree.nodes = append([]string{"_id"}, p.tree.names...), append([]*branch{p.idBranch}, p.tree.nodes...)
	case !p.idGiven && p.include:
		if _, ok := p.tree.find("_id"); !ok {
			p.tree.names, p.tree.nodes = append(p.tree.names, "_id"), append(p.tree.nodes, &branch{include: true})
		}
	}
	return projection{p.tree, p.include, p.c.peak}
}

func (p *projector) leaf(path []string, v bson.RawValue) error {
	n := &branch{}
	plain := v.Type == bson.TypeBoolean || value.IsNumber(v)
	switch {
	case plain && Truthy(v):
		n.include = true
	case plain:
		n.exclude = true
	default:
		e, err := p.c.value(v)
		if err != nil {
			return err
		}
		n.expr = e
	}
	if len(path) == 1 && path[0] == "_id" && n.expr == nil {
		if p.idGiven {
			return status.Errorf(31250, "Path collision at _id")
		}
		p.idGiven, p.idBranch = true, n
		return nil
	}
	name := strings.Join(path, ".")
	if p.decided && p.include == n.exclude {
		if n.exclude {
			return status.Errorf(31254, "Cannot do exclusion on field %s in inclusion projection", name)
		}
		if n.expr != nil {
			return status.Errorf(31252, "Cannot use an expression other than $meta in exclusion projection")
		}
		return status.Errorf(31253, "Cannot do inclusion on field %s in exclusion projection", name)
	}
	p.decided, p.include = true, !n.exclude
	return p.tree.put(path, n)
}

func (c *compiler) unset(arg bson.RawValue) (Transform, error) {
	var names []bson.RawValue
	switch arg.Type {
	case bson.TypeString:
		names = []bson.RawValue{arg}
	case bson.TypeArray:
		names = slices.Collect(value.Items(arg))
		if len(names) == 0 {
			return nil, status.Errorf(31119, "$unset specification must be a string or an array with at least one field")
		}
	default:
		return nil, status.Errorf(31002, "$unset specification must be a string or an array")
	}
	t := &tree{}
	for _, n := range names {
		if n.Type != bson.TypeString {
			return nil, status.Errorf(31120, "$unset specification must be a string or an array containing only string values")
		}
		path, err := splitPath(str(n))
		if err == nil {
			err = t.put(path, &branch{exclude: true})
		}
		if err != nil {
			return nil, status.Context("Invalid $unset", err)
		}
	}
	return projection{tree: t}, nil
}

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
	for key, v := range value.Elements(doc) {
		if i, ok := t.find(key); ok {
			if t.nodes[i].leaf() {
				continue
			}
			v = excludeIn(t.nodes[i].sub, v)
		}
		b.Append(key, v)
	}
	return b.Raw()
}

func excludeIn(t *tree, v bson.RawValue) bson.RawValue {
	switch v.Type {
	case bson.TypeEmbeddedDocument:
		return value.Doc(exclude(t, v.Value))
	case bson.TypeArray:
		v, _ = mapped(v, func(item bson.RawValue) (bson.RawValue, error) { return excludeIn(t, item), nil })
	}
	return v
}

// included keeps fields in the order of the document and puts computed ones
// after them, in the order of the specification.
func (p projection) included(c *evaluation, t *tree, doc []byte) (bson.Raw, error) {
	b := value.NewBuilder(len(doc))
	done := make([]bool, len(t.names))
	for key, v := range value.Elements(doc) {
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
		b.Append(key, v)
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
		return mapped(v, func(item bson.RawValue) (bson.RawValue, error) { return p.includedIn(c, t, item) })
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
