package pipeline

import (
	"encoding/binary"
	"math"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

func (c *compiler) group(arg bson.RawValue) (stage, error) {
	if arg.Type != bson.TypeEmbeddedDocument {
		return nil, status.Errorf(15947, "a group's fields must be specified in an object")
	}
	g := &grouping{env: &c.env.Expr}
	hasID := false
	for name, v := range value.Elements(arg.Value) {
		var err error
		switch {
		case name == "_id":
			hasID = true
			err = g.setID(v)
		case name == markPartial:
			g.partial = true
		case name == markMerging:
			g.merging = true
		default:
			err = g.accumulate(name, v)
		}
		if err != nil {
			return nil, err
		}
	}
	if !hasID {
		return nil, status.Errorf(15955, "a group specification must include an _id")
	}
	return whole(g.run), nil
}

func (g *grouping) setID(v bson.RawValue) error {
	first := ""
	if v.Type == bson.TypeEmbeddedDocument {
		first, _ = value.First(v.Value)
	}
	if v.Type != bson.TypeEmbeddedDocument || dollar(first) || value.Len(v.Value) == 0 {
		var err error
		g.id, err = g.env.Compile(v)
		return err
	}
	g.byDoc = true
	for name, e := range value.Elements(v.Value) {
		compiled, err := g.env.Compile(e)
		if err != nil {
			return err
		}
		g.parts = append(g.parts, idPart{name, compiled})
	}
	return nil
}

func (g *grouping) accumulate(name string, v bson.RawValue) error {
	switch {
	case strings.Contains(name, "."):
		return status.Errorf(40235, "The field name '%s' cannot contain '.'", name)
	case v.Type != bson.TypeEmbeddedDocument || value.Len(v.Value) != 1:
		return status.Errorf(40234, "The field '%s' must be an accumulator object", name)
	}
	op, arg := value.First(v.Value)
	maker := accumulatorFor(op)
	if maker == nil {
		return status.Errorf(15952, "unknown group operator '%s'", op)
	}
	if op == "$count" {
		arg = one()
	} else if arg.Type == bson.TypeArray {
		return status.Errorf(40237, "The %s accumulator is a unary operator", op)
	}
	e, err := g.env.Compile(arg)
	g.accs = append(g.accs, accumulation{name, maker, e})
	return err
}

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

func (g *grouping) run(docs []bson.Raw) (out []bson.Raw, err error) {
	var order []*bucket
	groups := map[string]*bucket{}
	var key []byte
	for _, doc := range docs {
		var id bson.RawValue
		if id, key, err = g.key(doc, key[:0]); err != nil {
			return nil, err
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
			return nil, err
		}
	}
	for _, b := range order {
		out = append(out, g.result(b))
	}
	return out, nil
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
		}
		if v.Type == 0 {
			v = value.Null() // results are never missing
		}
		out.Append(a.name, v)
	}
	return out.Raw()
}

// appendKey appends bytes that two values share exactly when they compare
// equal: numbers lose their type, everything else keeps rank and bytes. The
// bytes have no order; they are only for maps.
func appendKey(b []byte, v bson.RawValue) []byte {
	b = append(b, byte(value.Rank(v.Type)))
	switch v.Type {
	case 0: // distinguish missing from undefined, which has the same rank
		return append(b, 0)
	case bson.TypeInt32, bson.TypeInt64, bson.TypeDouble, bson.TypeDecimal128:
		return appendNumber(b, v)
	case bson.TypeEmbeddedDocument, bson.TypeArray:
		for name, e := range value.Elements(v.Value) {
			b = append(b, 1)
			b = append(b, name...)
			b = append(b, 0)
			b = appendKey(b, e)
		}
		return append(b, 0)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(v.Value)))
	return append(b, v.Value...)
}

// appendNumber writes whole numbers as int64 and others as double; decimals
// that are neither keep their text.
func appendNumber(b []byte, v bson.RawValue) []byte {
	if n, ok := value.Long(v); ok {
		return binary.LittleEndian.AppendUint64(append(b, 'i'), uint64(n))
	}
	f := value.Float(v)
	switch {
	case math.IsNaN(f):
		return append(b, 'n')
	case v.Type != bson.TypeDecimal128 || value.Equal(v, value.Double(f)):
		return binary.LittleEndian.AppendUint64(append(b, 'd'), math.Float64bits(f))
	}
	return append(append(b, 'x'), v.Decimal128().String()...)
}

// accumulator computes one field of one group.
type accumulator interface {
	add(v bson.RawValue)   // a document's value
	merge(v bson.RawValue) // another accumulator's state
	result() bson.RawValue
	state() bson.RawValue // input of merge
}

func accumulatorFor(op string) func() accumulator {
	switch op {
	case "$sum", "$count":
		return func() accumulator {
			t := &expr.Total{}
			return fold{t.Add, t.Sum}
		}
	case "$avg":
		return func() accumulator { return &average{} }
	case "$min", "$max":
		return func() accumulator {
			var best bson.RawValue
			return fold{func(v bson.RawValue) { best = expr.Extreme(best, v, op == "$max") }, func() bson.RawValue { return best }}
		}
	case "$first", "$last":
		return func() accumulator {
			var kept bson.RawValue
			some := false
			return fold{func(v bson.RawValue) {
				if op == "$last" || !some {
					kept, some = v, true
				}
			}, func() bson.RawValue { return kept }}
		}
	case "$push":
		return func() accumulator { return &pushed{} }
	case "$addToSet":
		return func() accumulator { return &pushed{seen: map[string]bool{}} }
	}
	return nil
}

// fold is an accumulator whose state is its result, so that merging is adding.
type fold struct {
	step  func(v bson.RawValue)
	value func() bson.RawValue
}

func (a fold) add(v bson.RawValue)   { a.step(v) }
func (a fold) merge(v bson.RawValue) { a.step(v) }
func (a fold) result() bson.RawValue { return a.value() }
func (a fold) state() bson.RawValue  { return a.value() }

// average has the state {subTotal, count}, as in MongoDB.
type average struct {
	total expr.Total
	count int64
}

func (a *average) add(v bson.RawValue) {
	a.total.Add(v)
	a.count = a.total.Count
}

func (a *average) merge(v bson.RawValue) {
	if part, ok := v.DocumentOK(); ok {
		a.total.Add(value.Field(part, "subTotal"))
		n, _ := value.Long(value.Field(part, "count"))
		a.count += n
	}
}

func (a *average) result() bson.RawValue { return expr.Quotient(a.total.Sum(), a.count) }

func (a *average) state() bson.RawValue {
	return doc("subTotal", a.total.Sum(), "count", value.Int64(a.count))
}

// pushed is $push, and $addToSet when seen is not nil. Missing values are not
// added; null is.
type pushed struct {
	items []bson.RawValue
	seen  map[string]bool
}

func (a *pushed) add(v bson.RawValue) {
	if v.Type == 0 {
		return
	}
	if a.seen != nil {
		key := string(appendKey(nil, v))
		if a.seen[key] {
			return
		}
		a.seen[key] = true
	}
	a.items = append(a.items, v)
}

func (a *pushed) merge(v bson.RawValue) {
	for item := range value.Items(v) {
		a.add(item)
	}
}

func (a *pushed) result() bson.RawValue { return value.Array(a.items...) }
func (a *pushed) state() bson.RawValue  { return a.result() }
