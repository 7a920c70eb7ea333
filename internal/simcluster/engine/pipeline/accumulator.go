package pipeline

import (
	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/simcluster/engine/expr"
	"shardboard/internal/simcluster/engine/status"
	"shardboard/internal/simcluster/engine/value"
)

// accumulator computes one field of one group.
type accumulator interface {
	add(v bson.RawValue) (grown int, err error)   // a document's value
	merge(v bson.RawValue) (grown int, err error) // another accumulator's state
	result() bson.RawValue
	state() bson.RawValue // input of merge; missing if there is no state
}

func accumulatorFor(op string) func() accumulator {
	switch op {
	case "$sum", "$count":
		return func() accumulator { return &sum{} }
	case "$avg":
		return func() accumulator { return &average{} }
	case "$min", "$max":
		return func() accumulator { return &extreme{largest: op == "$max"} }
	case "$first", "$last":
		return func() accumulator { return &end{last: op == "$last"} }
	case "$push":
		return func() accumulator { return &pushed{} }
	case "$addToSet":
		return func() accumulator { return &pushed{seen: map[string]bool{}} }
	case "$mergeObjects":
		return func() accumulator { return &merged{} }
	}
	return nil
}

type sum struct{ total expr.Total }

func (a *sum) add(v bson.RawValue) (int, error)   { a.total.Add(v); return 0, nil }
func (a *sum) merge(v bson.RawValue) (int, error) { return a.add(v) }
func (a *sum) result() bson.RawValue              { return a.total.Sum() }
func (a *sum) state() bson.RawValue               { return a.total.Sum() }

// average has the state {subTotal, count}, as in MongoDB.
type average struct {
	total expr.Total
	count int64
}

func (a *average) add(v bson.RawValue) (int, error) {
	a.total.Add(v)
	a.count = a.total.Count
	return 0, nil
}

func (a *average) merge(v bson.RawValue) (int, error) {
	part, ok := v.DocumentOK()
	if !ok {
		return 0, nil
	}
	a.total.Add(value.Field(part, "subTotal"))
	n, _ := value.Long(value.Field(part, "count"))
	a.count += n
	return 0, nil
}

func (a *average) result() bson.RawValue { return expr.Quotient(a.total.Sum(), a.count) }

func (a *average) state() bson.RawValue {
	return doc("subTotal", a.total.Sum(), "count", value.Int64(a.count))
}

type extreme struct {
	largest bool
	best    bson.RawValue
}

func (a *extreme) add(v bson.RawValue) (int, error) {
	a.best = expr.Extreme(a.best, v, a.largest)
	return 0, nil
}
func (a *extreme) merge(v bson.RawValue) (int, error) { return a.add(v) }
func (a *extreme) result() bson.RawValue              { return a.best }
func (a *extreme) state() bson.RawValue               { return a.best }

type end struct {
	last, any bool
	v         bson.RawValue
}

func (a *end) add(v bson.RawValue) (int, error) {
	if a.last || !a.any {
		a.v, a.any = v, true
	}
	return 0, nil
}
func (a *end) merge(v bson.RawValue) (int, error) { return a.add(v) }
func (a *end) result() bson.RawValue              { return a.v }
func (a *end) state() bson.RawValue {
	if a.v.Type == 0 {
		return value.Null()
	}
	return a.v
}

// pushed is $push, and $addToSet when seen is not nil. Missing values are not
// added; null is.
type pushed struct {
	items []bson.RawValue
	seen  map[string]bool
}

func (a *pushed) add(v bson.RawValue) (int, error) {
	if v.Type == 0 {
		return 0, nil
	}
	if a.seen != nil {
		key := string(appendKey(nil, v))
		if a.seen[key] {
			return 0, nil
		}
		a.seen[key] = true
	}
	a.items = append(a.items, v)
	return len(v.Value) + 16, nil
}

func (a *pushed) merge(v bson.RawValue) (grown int, err error) {
	if v.Type != bson.TypeArray {
		return 0, nil
	}
	for item := range value.Items(v) {
		n, _ := a.add(item)
		grown += n
	}
	return grown, nil
}

func (a *pushed) result() bson.RawValue { return value.Array(a.items...) }
func (a *pushed) state() bson.RawValue  { return a.result() }

type merged struct{ doc bson.Raw }

func (a *merged) add(v bson.RawValue) (int, error) {
	switch v.Type {
	case 0, bson.TypeNull, bson.TypeUndefined:
		return 0, nil
	case bson.TypeEmbeddedDocument:
		before := len(a.doc)
		a.doc = expr.Merge(a.doc, v.Value)
		return len(a.doc) - before, nil
	}
	return 0, status.Errorf(40400, "$mergeObjects requires object inputs, but input %s is of type %s", expr.Text(v), expr.TypeName(v))
}
func (a *merged) merge(v bson.RawValue) (int, error) { return a.add(v) }
func (a *merged) result() bson.RawValue              { return value.Doc(expr.Merge(a.doc)) }
func (a *merged) state() bson.RawValue               { return a.result() }
