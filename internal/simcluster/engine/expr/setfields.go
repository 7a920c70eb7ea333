package expr

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

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
