package engine

import (
	"bytes"
	"iter"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// pending is the state of resolving one index field: the offset of the value when done,
// otherwise the current document and the rest of the path.
type pending struct {
	pos  int // offset of the element found so far, or noElement, emptyArray
	base int // offset of the document that holds the rest; -1 when done
	path []string
}

// Element offsets are at least 4; these mean atMissing and atUndefined.
const (
	noElement  = 0
	emptyArray = 1
)

// keys lists the entries of a document. multi marks the fields with arrays.
func (x *index) keys(r *record) (found []entry, multi uint32, err error) {
	state := make([]pending, len(x.fields))
	for i, f := range x.fields {
		state[i] = pending{base: 0, path: f.path}
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
		p := &state[i]
		if p.base < 0 {
			continue
		}
		if g.follow(p) {
			continue
		}
		if g.index.fields[i].hashed {
			return status.Errorf(16766, "Error: hashed indexes do not currently support array values. Found array at path: %s",
				g.index.fields[i].name)
		}
		switch {
		case array < 0:
			array = i
		case state[array].pos != p.pos:
			return status.Errorf(status.CannotIndexParallelArrays, "cannot index parallel arrays [%s] [%s]",
				p.last(g.index.fields[i]), state[array].last(g.index.fields[array]))
		}
	}
	if array < 0 {
		g.emit(state)
		return nil
	}
	at := state[array].pos
	for i := range state {
		if state[i].base >= 0 && state[i].pos == at {
			g.multi |= 1 << i
		}
	}
	start := valueStart(g.rec.doc, at)
	items := value.Read(value.At(g.rec.doc, at).Value)
	any := false
	for items.Next() {
		any = true
		branch := append([]pending(nil), state...)
		item := start + items.Offset()
		for i := range branch {
			if branch[i].base >= 0 && branch[i].pos == at {
				branch[i].enter(g.rec.doc, item, items.Value.Type)
			}
		}
		if err := g.expand(branch); err != nil {
			return err
		}
	}
	if any {
		return nil
	}
	for i := range state {
		if p := &state[i]; p.base >= 0 && p.pos == at {
			p.base = -1
			if len(p.path) == 0 {
				p.pos = emptyArray
				g.present = true
			} else {
				p.pos = noElement
			}
		}
	}
	return g.expand(state)
}

// enter moves into an element of an opened array: the element itself is the value, or the rest of the
// path is looked up in it when it is a document.
func (p *pending) enter(doc bson.Raw, item int, typ bson.Type) {
	switch {
	case len(p.path) == 0:
		p.pos, p.base = item, -1
	case typ == bson.TypeEmbeddedDocument:
		p.base = valueStart(doc, item)
	default:
		p.pos, p.base = noElement, -1
	}
}

// follow walks until the path is done (true) or an array must be opened (false, pos is its element).
func (g *generator) follow(p *pending) bool {
	for {
		at, v := find(g.rec.doc, p.base, p.path[0])
		if v.Type == 0 {
			p.pos, p.base = noElement, -1
			return true
		}
		p.pos, p.path = at, p.path[1:]
		if v.Type == bson.TypeArray {
			if len(p.path) > 0 {
				if _, numeric := value.Index(p.path[0]); numeric && value.Field(v.Value, p.path[0]).Type != 0 {
					p.base = valueStart(g.rec.doc, at)
					continue
				}
			}
			return false
		}
		if len(p.path) == 0 {
			p.base = -1
			return true
		}
		if v.Type != bson.TypeEmbeddedDocument {
			p.pos, p.base = noElement, -1
			return true
		}
		p.base = valueStart(g.rec.doc, at)
	}
}

// emit adds the key of the resolved fields.
func (g *generator) emit(state []pending) {
	e := entry{rec: g.rec}
	for i, p := range state {
		g.present = g.present || p.pos != noElement
		if g.index.fields[i].hashed {
			e.hash = value.Hash((&entry{rec: g.rec, at: [4]place{g.place(p.pos)}}).value(0))
			e.set(i, atHash)
			continue
		}
		e.set(i, g.place(p.pos))
	}
	g.found = append(g.found, e)
}

// place is where the value of the element at the offset is.
func (g *generator) place(pos int) place {
	switch pos {
	case noElement:
		return atMissing
	case emptyArray:
		return atUndefined
	}
	return placeOf(bson.Type(g.rec.doc[pos]), valueStart(g.rec.doc, pos))
}

func (p *pending) last(f indexField) string {
	done := len(f.path) - len(p.path)
	return strings.Join(f.path[max(done-1, 0):done], ".")
}

// KeyOf builds the key of a document for a shard-key or index pattern, with the pattern's field
// names: hashed fields as int64 hashes, missing ones as null.
func KeyOf(pattern, doc bson.Raw) bson.Raw {
	b := value.NewBuilder(64)
	for name, kind := range value.Elements(pattern) {
		v, found := value.Lookup(doc, name)
		if !found {
			v = value.Null()
		}
		if kind.Type == bson.TypeString { // "hashed"
			v = value.Int64(value.Hash(v))
		}
		b.Append(name, v)
	}
	return b.Raw()
}

// Range iterates over the documents whose key for the pattern is in [min, max), in key order, through
// an index that begins with the pattern's fields (without one: by sorting). Bounds have the pattern's
// fields, or its first ones; hashed fields hold the hash. nil bounds are open. Do not change the
// collection during the iteration.
func (c *Coll) Range(pattern, min, max bson.Raw) iter.Seq2[RecordID, bson.Raw] {
	return func(yield func(RecordID, bson.Raw) bool) {
		if x := c.indexFor(pattern); x != nil {
			high := keyBound(x, max)
			x.tree.AscendGreaterOrEqual(keyBound(x, min), func(e entry) bool {
				return (max == nil || x.less(e, high)) && yield(e.rec.id, e.rec.doc)
			})
			return
		}
		type keyed struct {
			id  RecordID
			doc bson.Raw
			key bson.Raw
		}
		var all []keyed
		for id, doc := range c.All() {
			key := KeyOf(pattern, doc)
			if (min == nil || value.CompareKeys(min, key) <= 0) && (max == nil || value.CompareKeys(key, max) < 0) {
				all = append(all, keyed{id, doc, key})
			}
		}
		slices.SortStableFunc(all, func(a, b keyed) int { return value.CompareKeys(a.key, b.key) })
		for _, k := range all {
			if !yield(k.id, k.doc) {
				return
			}
		}
	}
}

// indexFor finds an index whose first fields are the pattern's, ascending, of the same kind, over all
// documents and without arrays.
func (c *Coll) indexFor(pattern bson.Raw) *index {
	fields, err := parseKey(pattern)
	if err != nil {
		return nil
	}
	for _, x := range c.indexes {
		if len(x.fields) < len(fields) || x.partial != nil || x.sparse || x.multi != 0 {
			continue
		}
		if bytes.Equal(normalKey(x.fields[:len(fields)]), normalKey(fields)) {
			return x
		}
	}
	return nil
}

// keyBound is a chunk bound as a place in the index, before the documents with that key; nil is the beginning.
func keyBound(x *index, key bson.Raw) entry {
	var values []bson.RawValue
	for _, v := range value.Elements(key) {
		values = append(values, v)
	}
	return bound(len(x.fields), values, before)
}

// CountRange counts the documents whose key for the pattern is in [min, max).
func (c *Coll) CountRange(pattern, min, max bson.Raw) int64 {
	var n int64
	for range c.Range(pattern, min, max) {
		n++
	}
	return n
}
