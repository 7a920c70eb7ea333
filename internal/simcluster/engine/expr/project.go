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

// Transform turns one document into one document.
type Transform interface {
	Apply(doc bson.Raw, env *Env) (bson.Raw, error)
}

// CompileTransform compiles one of the stages $addFields, $set, $unset and $project:
// {"$set": {…}}. ok is false when the stage is another one.
func (e *Env) CompileTransform(stage bson.Raw) (t Transform, ok bool, err error) {
	name, arg := value.First(stage)
	if value.Len(stage) != 1 {
		return nil, false, status.Errorf(40323, "A pipeline stage specification object must contain exactly one field.")
	}
	c := &compiler{known: e.known}
	switch name {
	case "$addFields", "$set":
		t, err = c.addFields(name, arg)
	case "$unset":
		t, err = c.unset(arg)
	case "$project":
		t, err = c.project(arg)
	default:
		return nil, false, nil
	}
	return t, true, err
}

// tree is a specification of nested fields: each name has either a leaf or a tree. It
// is shared by $set, $unset and $project.
type tree struct {
	names []string
	nodes []*branch
}

// branch is the specification of one field.
type branch struct {
	sub     *tree
	expr    node // computed
	include bool // kept as it is
	exclude bool // removed
}

func (b *branch) leaf() bool { return b.sub == nil }

func (t *tree) find(name string) (int, bool) {
	for i, n := range t.names {
		if n == name {
			return i, true
		}
	}
	return 0, false
}

// put adds a leaf at a path; a path that runs through or ends on another is a
// collision.
func (t *tree) put(path []string, leaf *branch) error {
	i, ok := t.find(path[0])
	last := len(path) == 1
	switch {
	case !ok && last:
		t.names, t.nodes = append(t.names, path[0]), append(t.nodes, leaf)
		return nil
	case !ok:
		t.names, t.nodes = append(t.names, path[0]), append(t.nodes, &branch{sub: &tree{}})
		return t.nodes[len(t.nodes)-1].sub.put(path[1:], leaf)
	case last:
		return status.Errorf(31250, "Path collision at %s", path[0])
	case t.nodes[i].leaf():
		return status.Errorf(31249, "Path collision at %s remaining portion %s", strings.Join(path, "."), strings.Join(path[1:], "."))
	}
	return t.nodes[i].sub.put(path[1:], leaf)
}

// addFields is $set: fields are replaced where they stand, new ones follow.
type addFields struct {
	tree   *tree
	locals int
}

func (c *compiler) addFields(name string, arg bson.RawValue) (Transform, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(40272, "%s specification stage must be an object, got %s", name, TypeName(arg))
	}
	t := &tree{}
	err := eachLeaf(nil, arg.Value, nil, func(path []string, v bson.RawValue) error {
		n, err := c.value(v)
		if err != nil {
			return err
		}
		return t.put(path, &branch{expr: n})
	})
	if err != nil {
		return nil, status.Context("Invalid "+name, err)
	}
	if len(t.names) == 0 {
		return nil, status.Errorf(40177, "Invalid %s :: caused by :: specification must have at least one field", name)
	}
	return addFields{t, c.peak}, nil
}

// eachLeaf visits the leaves of a specification: {a: 1, "b.c": …, d: {e: …}}. A nested document that is no operator is
// a nested specification, not a literal; empty is the error of an empty one, nil where that is a literal.
func eachLeaf(prefix []string, doc bson.Raw, empty error, leaf func(path []string, v bson.RawValue) error) error {
	for key, v := range value.Elements(doc) {
		path, err := splitPath(key)
		if err != nil {
			return err
		}
		path = append(append([]string(nil), prefix...), path...)
		first, n := "", -1 // no document
		if v.Type == bson.TypeEmbeddedDocument {
			first, _ = value.First(v.Value)
			n = value.Len(v.Value)
		}
		switch {
		case n == 0 && empty != nil:
			err = empty
		case n > 0 && !strings.HasPrefix(first, "$"):
			err = eachLeaf(path, v.Value, empty, leaf)
		default:
			err = leaf(path, v)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (a addFields) Apply(doc bson.Raw, env *Env) (bson.Raw, error) {
	return set(newEvaluation(doc, env, a.locals), a.tree, doc)
}

func newEvaluation(doc bson.Raw, env *Env, locals int) *evaluation {
	c := &evaluation{root: doc, env: env}
	if env == nil {
		c.env = &Env{}
	}
	if locals > 0 {
		c.locals = make([]bson.RawValue, locals)
	}
	return c
}

// set writes doc with the tree's fields over it. All expressions see the
// original document.
func set(c *evaluation, t *tree, doc []byte) (bson.Raw, error) {
	b := value.NewBuilder(len(doc) + 64)
	done := make([]bool, len(t.names))
	for key, v := range value.Elements(doc) {
		if i, ok := t.find(key); ok {
			if done[i] {
				continue
			}
			done[i] = true
			var err error
			if v, err = setOne(c, t.nodes[i], v); err != nil {
				return nil, err
			}
		}
		b.Append(key, v)
	}
	for i, name := range t.names {
		if !done[i] {
			v, err := setOne(c, t.nodes[i], missing())
			if err != nil {
				return nil, err
			}
			b.Append(name, v)
		}
	}
	return b.Raw(), nil
}

// setOne replaces one field; below it, arrays get the change in each of their
// elements and anything that is no document becomes one.
func setOne(c *evaluation, n *branch, v bson.RawValue) (bson.RawValue, error) {
	if n.leaf() {
		return n.expr.eval(c)
	}
	if v.Type == bson.TypeArray {
		return mapped(v, func(item bson.RawValue) (bson.RawValue, error) { return setOne(c, n, item) })
	}
	var inner []byte
	if v.Type == bson.TypeEmbeddedDocument {
		inner = v.Value
	}
	doc, err := set(c, n.sub, inner)
	return value.Doc(doc), err
}
