package engine

import (
	"bytes"
	"iter"
	"math"
	"slices"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// entry is one key of an index with a value for each of its fields, a slice of the document. A bound may have fewer
// values: it is before or after all entries that begin with them.
type entry struct {
	rec    *record
	values []bson.RawValue
}

// Record ids around those of all documents, for bounds.
const (
	before RecordID = 0
	after  RecordID = math.MaxUint64
)

// bound makes an entry for seeking: it sorts before or after all entries that begin
// with the given values.
func bound(values []bson.RawValue, side RecordID) entry {
	return entry{&record{id: side}, slices.Clone(values)}
}

// compareKeys orders the keys of two entries of the index; 0 also when one ends early and agrees until then.
func (x *index) compareKeys(a, b *entry) int {
	for i := range min(len(a.values), len(b.values)) {
		if c := value.Compare(a.values[i], b.values[i]); c != 0 && x.fields[i].descending {
			return -c
		} else if c != 0 {
			return c
		}
	}
	return 0
}

func (x *index) less(a, b entry) bool {
	if c := x.compareKeys(&a, &b); c != 0 {
		return c < 0
	}
	return a.rec.id < b.rec.id
}

// pending is how far one field of an index has been followed in a document.
type pending struct {
	path  []string      // the rest
	in    bson.Raw      // where it is looked up
	value bson.RawValue // found last: the field's value when done, otherwise an array that has to be opened
	done  bool
}

// keys lists the entries of a document. multi marks the fields with arrays.
func (x *index) keys(r *record) (found []entry, multi uint32, err error) {
	state := make([]pending, len(x.fields))
	for i, f := range x.fields {
		state[i] = pending{in: r.doc, path: f.path}
	}
	g := generator{index: x, rec: r}
	if err := g.expand(state); err != nil {
		return nil, 0, err
	}
	if x.sparse && !g.present {
		return nil, 0, nil
	}
	return g.found, g.multi, nil
}

// generator collects the keys of one document.
type generator struct {
	index   *index
	rec     *record
	found   []entry
	multi   uint32 // bit per field
	present bool   // some field exists
}

// expand follows every path to its end or to an array, then creates keys for each
// element of that array, for all fields that go through it together.
func (g *generator) expand(state []pending) error {
	array := -1
	for i := range state {
		p, f := &state[i], g.index.fields[i]
		switch {
		case p.follow():
		case f.hashed:
			return status.Errorf(16766, "Error: hashed indexes do not currently support array values. Found array at path: %s", f.name)
		case array < 0:
			array = i
		case &state[array].value.Value[0] != &p.value.Value[0]:
			return status.Errorf(status.CannotIndexParallelArrays, "cannot index parallel arrays [%s] [%s]",
				p.last(f), state[array].last(g.index.fields[array]))
		}
	}
	if array < 0 {
		g.emit(state)
		return nil
	}
	var items []bson.RawValue
	for item := range value.Items(state[array].value) {
		items = append(items, item)
	}
	if items == nil {
		items = []bson.RawValue{{}} // an empty array has a key too
	}
	for _, item := range items {
		branch := slices.Clone(state)
		for i := range branch {
			if !branch[i].done {
				branch[i].enter(item)
				g.multi |= 1 << i
			}
		}
		if err := g.expand(branch); err != nil {
			return err
		}
	}
	return nil
}

// enter moves into an element of the array that has to be opened: the element itself is the value, or the rest of the
// path is looked up in it when it is a document. Without an element, the value of an empty array is undefined.
func (p *pending) enter(item bson.RawValue) {
	switch {
	case len(p.path) > 0 && item.Type == bson.TypeEmbeddedDocument:
		p.in = item.Value
		return
	case len(p.path) > 0:
		item = bson.RawValue{}
	case item.Type == 0:
		item = value.Undefined()
	}
	p.value, p.done = item, true
}

// follow walks until the path is done (true) or an array must be opened (false).
func (p *pending) follow() bool {
	for !p.done {
		p.value, p.path = value.Field(p.in, p.path[0]), p.path[1:]
		switch {
		case p.value.Type == bson.TypeArray && !p.indexed():
			return false
		case len(p.path) == 0:
			p.done = true
		case p.value.Type == bson.TypeEmbeddedDocument || p.value.Type == bson.TypeArray:
			p.in = p.value.Value
		default:
			p.value, p.done = bson.RawValue{}, true
		}
	}
	return true
}

// indexed reports whether the path goes on with an element of the array by its number.
func (p *pending) indexed() bool {
	if len(p.path) == 0 {
		return false
	}
	_, numeric := value.Index(p.path[0])
	return numeric && value.Field(p.value.Value, p.path[0]).Type != 0
}

// emit adds the key of the resolved fields.
func (g *generator) emit(state []pending) {
	e := entry{g.rec, make([]bson.RawValue, len(state))}
	for i, p := range state {
		switch {
		case g.index.fields[i].hashed:
			e.values[i] = value.Int64(value.Hash(p.value))
		case p.value.Type == 0:
			e.values[i] = value.Null()
		default:
			e.values[i] = p.value
		}
		g.present = g.present || p.value.Type != 0
	}
	g.found = append(g.found, e)
}

// last is the name in the path at which the array is.
func (p *pending) last(f indexField) string { return f.path[len(f.path)-len(p.path)-1] }

// Range iterates over the documents whose key for the pattern is in [min, max), in key order, through
// an index that begins with the pattern's fields (without one: through one made for it). Bounds have the pattern's
// fields, or its first ones; hashed fields hold the hash. nil bounds are open. Do not change the
// collection during the iteration.
func (c *Coll) Range(pattern, min, max bson.Raw) iter.Seq2[RecordID, bson.Raw] {
	return func(yield func(RecordID, bson.Raw) bool) {
		x, high := c.indexFor(pattern), keyBound(max)
		x.tree.AscendGreaterOrEqual(keyBound(min), func(e entry) bool {
			return (max == nil || x.less(e, high)) && yield(e.rec.id, e.rec.doc)
		})
	}
}

// indexFor finds an index whose first fields are the pattern's, ascending, of the same kind, over all
// documents and without arrays, or makes one that nobody else uses.
func (c *Coll) indexFor(pattern bson.Raw) *index {
	fields, _ := parseKey(pattern) // of a shard key or of a range that was checked
	for _, x := range c.indexes {
		if len(x.fields) < len(fields) || x.partial != nil || x.sparse || x.multi != 0 {
			continue
		}
		if bytes.Equal(normalKey(x.fields[:len(fields)]), normalKey(fields)) {
			return x
		}
	}
	made := newIndex(indexSpec{key: pattern, fields: fields})
	c.records.Ascend(func(r *record) bool {
		if keys, _, err := made.keys(r); err == nil {
			made.add(keys)
		}
		return true
	})
	return made
}

// keyBound is a chunk bound as a place in the index, before the documents with that key; nil is the beginning.
func keyBound(key bson.Raw) entry {
	return bound(slices.Collect(value.Items(value.Doc(key))), before)
}

// CountRange counts the documents whose key for the pattern is in [min, max).
func (c *Coll) CountRange(pattern, min, max bson.Raw) int64 {
	var n int64
	for range c.Range(pattern, min, max) {
		n++
	}
	return n
}
