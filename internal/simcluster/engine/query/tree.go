package query

import (
	"strconv"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// tree is a document or array that is being changed; unchanged parts stay raw bytes.
type tree struct {
	array bool
	slots []slot
}

// slot is one element: a raw value, or an opened document or array.
type slot struct {
	name string // empty in arrays
	v    bson.RawValue
	sub  *tree
}

func openDoc(doc bson.Raw) *tree {
	t := &tree{}
	for name, v := range value.Elements(doc) {
		t.slots = append(t.slots, slot{name: name, v: v})
	}
	return t
}

func (s *slot) value() bson.RawValue {
	if s.sub == nil {
		return s.v
	}
	return s.sub.value()
}

func (t *tree) value() bson.RawValue {
	v := value.Doc(t.raw())
	if t.array {
		v.Type = bson.TypeArray
	}
	return v
}

func (t *tree) raw() bson.Raw {
	b := value.NewBuilder(256)
	for i := range t.slots {
		if t.array {
			b.Push(t.slots[i].value())
		} else {
			b.Append(t.slots[i].name, t.slots[i].value())
		}
	}
	return b.Raw()
}

// find is the slot of a part of a path, nil if there is none (yet).
func (t *tree) find(part string) *slot {
	if t.array {
		if i, ok := value.Index(part); ok && i < len(t.slots) {
			return &t.slots[i]
		}
		return nil
	}
	for i := range t.slots {
		if t.slots[i].name == part {
			return &t.slots[i]
		}
	}
	return nil
}

// enter opens the document or array in a slot; nil for other values.
func (s *slot) enter() *tree {
	if s.sub == nil && (s.v.Type == bson.TypeEmbeddedDocument || s.v.Type == bson.TypeArray) {
		s.sub = openDoc(s.v.Value)
		s.sub.array = s.v.Type == bson.TypeArray
	}
	return s.sub
}

// get is the value at a concrete path, missing (zero) if there is none.
func (t *tree) get(path []string) bson.RawValue {
	for {
		s := t.find(path[0])
		if s == nil {
			return bson.RawValue{}
		}
		if len(path) == 1 {
			return s.value()
		}
		if t = s.enter(); t == nil {
			return bson.RawValue{}
		}
		path = path[1:]
	}
}

// maxPadding is the largest number of nulls with which setting an element beyond the
// end pads an array.
const maxPadding = 1_500_000

// set puts a value at a concrete path, creating documents on the way and padding arrays with null.
func (t *tree) set(path []string, v bson.RawValue) error {
	for depth := 0; ; depth++ {
		part := path[depth]
		s := t.find(part)
		if s == nil {
			i, numeric := value.Index(part)
			switch {
			case !t.array:
				t.slots = append(t.slots, slot{name: part, v: value.Null()})
			case !numeric:
				return pathNotViable(part, path[depth-1], t.value())
			case i-len(t.slots) > maxPadding:
				return status.Errorf(status.CannotBackfillArray, "can't backfill more than %d elements", maxPadding)
			default:
				for len(t.slots) <= i {
					t.slots = append(t.slots, slot{v: value.Null()})
				}
			}
			s = &t.slots[len(t.slots)-1]
			if depth < len(path)-1 {
				s.sub = &tree{}
			}
		}
		if depth == len(path)-1 {
			s.v, s.sub = v, nil
			return nil
		}
		if t = s.enter(); t == nil {
			return pathNotViable(path[depth+1], part, s.v)
		}
	}
}

func pathNotViable(part, parent string, v bson.RawValue) error {
	return status.Errorf(status.PathNotViable, "Cannot create field '%s' in element {%s: %s}", part, parent, value.Text(v))
}

// remove removes a field; an array element becomes null instead, so that the others
// keep their positions.
func (t *tree) remove(path []string) {
	for ; len(path) > 1; path = path[1:] {
		s := t.find(path[0])
		if s == nil {
			return
		}
		if t = s.enter(); t == nil {
			return
		}
	}
	for i := range t.slots {
		switch {
		case t.array && strconv.Itoa(i) == path[0]:
			t.slots[i] = slot{v: value.Null()}
			return
		case !t.array && t.slots[i].name == path[0]:
			t.slots = append(t.slots[:i], t.slots[i+1:]...)
			return
		}
	}
}
