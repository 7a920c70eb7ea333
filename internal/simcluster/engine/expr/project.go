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
		return Transform{}, status.Errorf(15969, "$project specification must be an object")
	}
	if value.Len(arg.Value) == 0 {
		return Transform{}, status.Errorf(51272, "Invalid $project :: caused by :: projection specification must have at least one field")
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
		return Transform{}, err
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
	return Transform{p.tree, !p.include, p.c.peak}
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
	names := []bson.RawValue{arg}
	if arg.Type == bson.TypeArray {
		names = slices.Collect(value.Items(arg))
	}
	t := &tree{}
	for _, n := range names {
		if n.Type != bson.TypeString {
			return Transform{}, status.Errorf(31002, "$unset specification must be a string or an array")
		}
		path, err := splitPath(str(n))
		if err == nil {
			err = t.put(path, &branch{exclude: true})
		}
		if err != nil {
			return Transform{}, status.Context("Invalid $unset", err)
		}
	}
	return Transform{tree: t, keeps: true}, nil
}

// Transform makes a document of another by a tree: those of $set and $unset keep the fields that the tree does not
// name, and so does a $project that excludes; one that includes drops them.
type Transform struct {
	tree   *tree
	keeps  bool
	locals int
}

// Apply transforms one document.
func (w Transform) Apply(doc bson.Raw, env *Env) (bson.Raw, error) {
	return w.document(newEvaluation(doc, env, w.locals), w.tree, doc)
}

// document keeps fields in the order of the document and puts new ones after them, in the order of the specification;
// for a $project that includes, all computed ones are new. All expressions see the original document.
func (w Transform) document(c *evaluation, t *tree, doc []byte) (bson.Raw, error) {
	b := value.NewBuilder(len(doc) + 64)
	done := make([]bool, len(t.names))
	for key, v := range value.Elements(doc) {
		i, named := t.find(key)
		if named && (done[i] || t.nodes[i].expr != nil && !w.keeps) || !named && !w.keeps {
			continue
		}
		if named {
			done[i] = true
			var err error
			if v, err = w.field(c, t.nodes[i], v); err != nil {
				return nil, err
			}
		}
		b.Append(key, v)
	}
	for i, name := range t.names {
		if done[i] {
			continue
		}
		v, err := w.field(c, t.nodes[i], missing())
		if err != nil {
			return nil, err
		}
		b.Append(name, v)
	}
	return b.Raw(), nil
}

// field is what becomes of a field, or of an element of an array in it. A value that is no document becomes one where
// the specification computes fields of it.
func (w Transform) field(c *evaluation, n *branch, v bson.RawValue) (bson.RawValue, error) {
	switch {
	case n.expr != nil:
		return n.expr.eval(c)
	case n.include:
		return v, nil
	case n.leaf():
		return missing(), nil
	case v.Type == bson.TypeArray:
		return mapped(v, func(item bson.RawValue) (bson.RawValue, error) { return w.field(c, n, item) })
	case v.Type != bson.TypeEmbeddedDocument && !computes(n.sub) && w.keeps:
		return v, nil
	case v.Type != bson.TypeEmbeddedDocument && !computes(n.sub):
		return missing(), nil
	case v.Type != bson.TypeEmbeddedDocument:
		v.Value = nil
	}
	doc, err := w.document(c, n.sub, v.Value)
	return value.Doc(doc), err
}

func computes(t *tree) bool {
	return slices.ContainsFunc(t.nodes, func(n *branch) bool { return n.expr != nil || n.sub != nil && computes(n.sub) })
}

// CompileTransform compiles one of the stages $addFields, $set, $unset and $project:
// {"$set": {…}}. ok is false when the stage is another one.
func (e *Env) CompileTransform(stage bson.Raw) (t Transform, ok bool, err error) {
	name, arg := value.First(stage)
	if value.Len(stage) != 1 {
		return Transform{}, false, status.Errorf(40323, "A pipeline stage specification object must contain exactly one field.")
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
		return Transform{}, false, nil
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
func (c *compiler) addFields(name string, arg bson.RawValue) (Transform, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return Transform{}, status.Errorf(40272, "%s specification stage must be an object, got %s", name, TypeName(arg))
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
		return Transform{}, status.Context("Invalid "+name, err)
	}
	if len(t.names) == 0 {
		return Transform{}, status.Errorf(40177, "Invalid %s :: caused by :: specification must have at least one field", name)
	}
	return Transform{t, true, c.peak}, nil
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
