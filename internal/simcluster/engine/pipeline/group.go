package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/value"
)

// grouping is $group. Groups are returned in the order of their first document; MongoDB
// guarantees no order.
type grouping struct {
	env   *expr.Env
	id    expr.Expr
	parts []idPart // the fields of an _id that is a document of expressions
	byDoc bool
	accs  []accumulation
	// partial groups on a shard emit states instead of results; merging groups
	// on a router take states instead of values.
	partial, merging bool
}

// idPart is one field of a document _id. Its fields are kept apart so that a
// missing one and a null one make different groups.
type idPart struct {
	name string
	expr expr.Expr
}

// accumulation is one output field.
type accumulation struct {
	name string
	make func() accumulator
	expr expr.Expr
}

// The two markers that Split puts into $group.
const (
	markPartial = "$willBeMerged"
	markMerging = "$doingMerge"
)

// bucket is the state of one group.
type bucket struct {
	id   bson.RawValue
	accs []accumulator
}

func (g *grouping) run(in Docs) Docs {
	return func(yield func(bson.Raw, error) bool) {
		var order []*bucket
		groups := map[string]*bucket{}
		var key []byte
		for doc, err := range in {
			var id bson.RawValue
			if err == nil {
				id, key, err = g.key(doc, key[:0])
			}
			if err != nil {
				yield(nil, err)
				return
			}
			b := groups[string(key)]
			if b == nil {
				b = &bucket{id: id, accs: make([]accumulator, len(g.accs))}
				for i, a := range g.accs {
					b.accs[i] = a.make()
				}
				groups[string(key)] = b
				order = append(order, b)
			}
			if err := g.add(b, doc); err != nil {
				yield(nil, err)
				return
			}
		}
		for _, b := range order {
			if !yield(g.result(b), nil) {
				return
			}
		}
	}
}

// key evaluates the _id; equal values of different numeric types share a key.
func (g *grouping) key(doc bson.Raw, buf []byte) (bson.RawValue, []byte, error) {
	if !g.byDoc {
		v, err := g.id.Eval(doc, g.env)
		if err != nil {
			return v, buf, err
		}
		if v.Type == 0 {
			v = value.Null()
		}
		return v, appendKey(buf, v), nil
	}
	b := value.NewBuilder(64)
	for _, p := range g.parts {
		v, err := p.expr.Eval(doc, g.env)
		if err != nil {
			return v, buf, err
		}
		b.Append(p.name, v)
		buf = appendKey(buf, v)
	}
	return value.Doc(b.Raw()), buf, nil
}

// add adds the document to every accumulator.
func (g *grouping) add(b *bucket, doc bson.Raw) error {
	for i, a := range g.accs {
		v, err := a.expr.Eval(doc, g.env)
		switch {
		case err != nil:
			return err
		case g.merging:
			b.accs[i].merge(v)
		default:
			b.accs[i].add(v)
		}
	}
	return nil
}

func (g *grouping) result(b *bucket) bson.Raw {
	out := value.NewBuilder(128).Append("_id", b.id)
	for i, a := range g.accs {
		v := b.accs[i].result()
		if g.partial {
			v = b.accs[i].state()
		} else if v.Type == 0 {
			v = value.Null() // results are never missing
		}
		out.Append(a.name, v)
	}
	return out.Raw()
}
