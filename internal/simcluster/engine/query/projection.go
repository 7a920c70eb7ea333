package query

import (
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Projection is a compiled projection document: a tree of fields, kept or dropped, and computed ones.
type Projection struct {
	root     *shape
	exclude  bool // what is not named stays
	dropID   bool
	computed []computedField
	filter   *Filter // for "field.$"
	env      *expr.Env
	fixed    bool // exclude is decided by a field that was seen
}

// shape is what happens to one field: kept (or dropped) whole, or decided field by field below.
type shape struct {
	fields map[string]*shape // nil: a leaf
	list   func(p *Projection, doc bson.Raw, v bson.RawValue) (bson.RawValue, error)
}

type computedField struct {
	path []string
	expr expr.Expr
}

// ParseProjection compiles a find projection; nil for an empty one. filter (may be nil) serves the
// positional "field.$".
func ParseProjection(projection bson.Raw, filter *Filter, env *expr.Env) (*Projection, error) {
	if value.Len(projection) == 0 {
		return nil, nil
	}
	p := &Projection{root: &shape{fields: map[string]*shape{}}, filter: filter, env: env}
	if err := p.parse(nil, projection); err != nil {
		return nil, err
	}
	if !p.fixed { // only _id: 0, or only $slice: the rest stays
		p.exclude = p.dropID || len(p.root.fields) > 0 && p.root.fields["_id"] == nil
	}
	if p.exclude && len(p.computed) > 0 {
		return nil, status.Errorf(31310, "Cannot use an expression in an exclusion projection")
	}
	return p, nil
}

func (p *Projection) parse(prefix []string, doc bson.Raw) error {
	for name, v := range value.Elements(doc) {
		if name == "" || strings.HasPrefix(name, ".") || strings.HasSuffix(name, ".") {
			return status.Errorf(40352, "FieldPath cannot be constructed with empty string")
		}
		path := append(append([]string(nil), prefix...), strings.Split(name, ".")...)
		if err := p.field(path, v); err != nil {
			return err
		}
	}
	return nil
}

func (p *Projection) field(path []string, v bson.RawValue) error {
	name := strings.Join(path, ".")
	switch {
	case path[len(path)-1] == "$":
		if err := p.decide(name, false); err != nil {
			return err
		}
		return p.place(path[:len(path)-1], &shape{list: positional})
	case value.IsNumber(v) || v.Type == bson.TypeBoolean:
		keep := truth(v)
		if name == "_id" {
			p.dropID = !keep
			if keep && !p.fixed && len(p.root.fields) == 0 {
				p.exclude, p.fixed = false, true
			}
			return nil
		}
		if err := p.decide(name, !keep); err != nil {
			return err
		}
		return p.place(path, &shape{})
	case v.Type == bson.TypeEmbeddedDocument:
		op, arg := value.First(v.Value)
		switch {
		case op == "$slice" && p.isListSlice(arg):
			s, err := sliced(arg)
			if err != nil {
				return err
			}
			return p.place(path, &shape{list: s})
		case op == "$elemMatch":
			if err := p.decide(name, false); err != nil {
				return err
			}
			var parse parser
			t, err := parse.elemMatch(name, arg)
			if err != nil {
				return err
			}
			return p.place(path, &shape{list: firstMatch(t)})
		case op == "$meta":
			return status.Errorf(40218, "query requires metadata that is not available")
		case op == "":
			return status.Errorf(51270, "An empty sub-projection is not a valid value. Found empty object at path")
		case !strings.HasPrefix(op, "$"):
			return p.parse(path, v.Value)
		}
	}
	compiled, err := p.env.Compile(v)
	if err != nil {
		return err
	}
	if err := p.decide(name, false); err != nil {
		return err
	}
	p.computed = append(p.computed, computedField{path, compiled})
	return nil
}

// isListSlice tells find's $slice (numbers) from the expression of that name ([array, n]).
func (p *Projection) isListSlice(arg bson.RawValue) bool {
	if arg.Type != bson.TypeArray {
		return true
	}
	_, first := value.First(arg.Value)
	return value.IsNumber(first) || first.Type == 0
}

// decide fixes whether the projection includes or excludes, and refuses mixing both.
func (p *Projection) decide(name string, exclude bool) error {
	switch {
	case p.fixed && p.exclude && !exclude:
		return status.Errorf(31253, "Cannot do inclusion on field %s in exclusion projection", name)
	case p.fixed && !p.exclude && exclude:
		return status.Errorf(31254, "Cannot do exclusion on field %s in inclusion projection", name)
	}
	p.exclude, p.fixed = exclude, true
	return nil
}

// place puts a leaf into the tree of fields.
func (p *Projection) place(path []string, leaf *shape) error {
	at := p.root
	for i, part := range path {
		below := at.fields[part]
		last := i == len(path)-1
		switch {
		case below == nil && last:
			at.fields[part] = leaf
			return nil
		case below == nil:
			below = &shape{fields: map[string]*shape{}}
			at.fields[part] = below
		case last:
			return status.Errorf(31250, "Path collision at %s", strings.Join(path, "."))
		case below.fields == nil:
			return status.Errorf(31249, "Path collision at %s remaining portion %s", strings.Join(path, "."), strings.Join(path[i+1:], "."))
		}
		at = below
	}
	return nil
}
