package query

import (
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// Sort is a compiled sort pattern.
type Sort struct {
	fields []SortField
	paths  [][]string
}

// SortField is one field of a sort pattern.
type SortField struct {
	Path       string
	Descending bool
}

// ParseSort compiles a sort document such as {a: 1, b: -1}; nil for an empty one.
func ParseSort(pattern bson.Raw) (*Sort, error) {
	s := &Sort{}
	for name, v := range value.Elements(pattern) {
		if v.Type == bson.TypeEmbeddedDocument {
			return nil, status.Errorf(status.FailedToParse, "$meta sort by that key is not supported")
		}
		if !value.IsNumber(v) {
			return nil, status.Errorf(15974, "Illegal key in $sort specification: %s: %s", name, v.String())
		}
		n, exact := value.Long(v)
		if !exact || n != 1 && n != -1 {
			return nil, status.Errorf(15975, "$sort key ordering must be 1 (for ascending) or -1 (for descending)")
		}
		if name == "" {
			return nil, status.Errorf(40352, "FieldPath cannot be constructed with empty string")
		}
		s.fields = append(s.fields, SortField{name, n < 0})
		s.paths = append(s.paths, strings.Split(name, "."))
	}
	if len(s.fields) == 0 {
		return nil, nil
	}
	return s, nil
}

// Fields are the pattern's fields in order.
func (s *Sort) Fields() []SortField {
	if s == nil {
		return nil
	}
	return s.fields
}

// key extracts the values a document is sorted by: an array gives its smallest element (the largest
// where descending), an empty array undefined, missing null. The values are slices of the document.
func (s *Sort) key(doc bson.Raw) []bson.RawValue {
	key := make([]bson.RawValue, len(s.fields))
	for i, path := range s.paths {
		if len(path) == 1 {
			if v := value.Field(doc, path[0]); v.Type != bson.TypeArray {
				if v.Type == 0 {
					v = value.Null()
				}
				key[i] = v
				continue
			}
		}
		key[i] = extreme(doc, path, s.fields[i].Descending)
	}
	return key
}

// extreme is the smallest or largest value at the path with arrays opened.
func extreme(doc bson.Raw, path []string, largest bool) bson.RawValue {
	var best bson.RawValue
	take := func(v bson.RawValue) {
		if v.Type == 0 {
			v = value.Null()
		}
		if best.Type == 0 {
			best = v
			return
		}
		if c := value.Compare(v, best); largest && c > 0 || !largest && c < 0 {
			best = v
		}
	}
	value.Walk(doc, path, false, func(v bson.RawValue) bool {
		if v.Type != bson.TypeArray {
			take(v)
			return true
		}
		if value.Len(v.Value) == 0 {
			take(value.Undefined())
		}
		for item := range value.Items(v) {
			take(item)
		}
		return true
	})
	if best.Type == 0 {
		return value.Null() // an array on the way without documents
	}
	return best
}

// Sort sorts documents; those with equal keys keep their order.
func (s *Sort) Sort(docs []bson.Raw) { Arrange(s, docs, func(doc bson.Raw) bson.Raw { return doc }) }

// Arrange sorts items by the documents that they stand for, as Sort does.
func Arrange[T any](s *Sort, items []T, doc func(T) bson.Raw) {
	type keyed struct {
		key  []bson.RawValue
		item T
	}
	all := make([]keyed, len(items))
	for i, item := range items {
		all[i] = keyed{s.key(doc(item)), item}
	}
	slices.SortStableFunc(all, func(a, b keyed) int { return s.compare(a.key, b.key) })
	for i := range all {
		items[i] = all[i].item
	}
}

// compare orders two keys by the pattern's directions.
func (s *Sort) compare(a, b []bson.RawValue) int {
	for i, f := range s.fields {
		if c := value.Compare(a[i], b[i]); c != 0 {
			if f.Descending {
				return -c
			}
			return c
		}
	}
	return 0
}

// Projection is a compiled projection of find, which has the rules of $project.
type Projection struct {
	apply expr.Transform
	env   *expr.Env
}

// ParseProjection compiles a find projection; nil for an empty one.
func ParseProjection(projection bson.Raw, env *expr.Env) (*Projection, error) {
	if value.Len(projection) == 0 {
		return nil, nil
	}
	t, err := env.CompileProjection(projection)
	return &Projection{t, env}, err
}

// Apply gives the projected document. A nil projection gives doc itself.
func (p *Projection) Apply(doc bson.Raw) (bson.Raw, error) {
	if p == nil {
		return doc, nil
	}
	return p.apply.Apply(doc, p.env)
}
